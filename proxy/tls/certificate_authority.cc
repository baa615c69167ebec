#include "proxy/tls/certificate_authority.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/http/digest.h"
#include "base/invariant.h"
#include "base/system/descriptor.h"
#include "base/system/last_error.h"
#include "base/system/private_file.h"
#include "base/system/user_folder.h"
#include "base/text/base64.h"
#include "proxy/tls/certificate_builder.h"

namespace reprise {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::days kRootLifetime{5 * 365};
constexpr std::chrono::days kLifetimeLeftMin{30};
constexpr std::size_t kPemBytesMax = 64 << 10;
constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
constexpr mode_t kOthersMayAnything = S_IRWXG | S_IRWXO;

fs::path certificate_file(const fs::path& directory) {
  return directory / "ca.pem";
}
fs::path key_file(const fs::path& directory) {
  return directory / "ca-key.pem";
}

Result<Descriptor> open_file(const fs::path& path, int flags, mode_t mode = 0) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!file.is_open()) return fail(last_system_error());
  return file;
}

/// Refuses a file or folder with any mode bit in `forbidden`.
Result<void> check_mode(int fd, mode_t kind, mode_t forbidden) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return fail(last_system_error());
  if ((status.st_mode & S_IFMT) != kind) return fail(trust_errc::authority_damaged);
  if ((status.st_mode & forbidden) != 0) return fail(trust_errc::authority_open);
  return {};
}

Result<std::string> read_pem(const fs::path& path, mode_t forbidden) {
  auto const file = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail(file.error());
  if (auto const allowed = check_mode(file->get(), S_IFREG, forbidden); !allowed) {
    return fail(allowed.error());
  }
  std::string text(kPemBytesMax, '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    ssize_t const count = ::read(file->get(), text.data() + used, text.size() - used);
    if (count < 0) return fail(last_system_error());
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  text.resize(used);
  return text;
}

/// Makes `directory` and its missing parents for this user alone, as required by the XDG base
/// directory specification.
Result<void> make_private_directories(const fs::path& directory) {
  fs::path made;
  for (const fs::path& part : directory) {
    made /= part;
    if (::mkdir(made.c_str(), S_IRWXU) == 0) {
      if (::chmod(made.c_str(), S_IRWXU) != 0) return fail(last_system_error());
    } else if (errno != EEXIST) {
      auto const error = last_system_error();
      std::error_code ignored;
      // An existing parent may give EROFS or EACCES instead of EEXIST.
      if (!fs::is_directory(made, ignored)) return fail(error);
    }
  }
  return {};
}

/// Held as long as the descriptor is open; the kernel releases it when the process ends.
Result<Descriptor> lock_directory(const fs::path& directory) {
  auto file = open_file(directory / "lock", O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
  if (!file) return file;
  while (::flock(file->get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail(last_system_error());
  }
  return file;
}

Result<void> check_directory(const fs::path& directory) {
  auto const opened = open_file(directory, O_RDONLY | O_DIRECTORY);
  if (!opened) return fail(opened.error());
  return check_mode(opened->get(), S_IFDIR, kOthersMayWrite);
}

/// OpenSSL would ask for the password on the terminal.
int no_password(char*, int, int, void*) {
  return -1;
}

BioPtr memory_bio(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string bio_text(BIO* bio) {
  char* data = nullptr;
  long const length = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(length)};
}

std::string new_common_name() {
  std::array<unsigned char, 4> random;
  invariant(RAND_bytes(random.data(), random.size()) == 1, "OpenSSL has random numbers");
  std::string name = "reprise local CA ";
  for (unsigned char const byte : random) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

X509Ptr make_certificate(EVP_PKEY* key) {
  X509Ptr certificate(X509_new());
  X509* const made = certificate.get();
  invariant(made != nullptr && X509_set_version(made, X509_VERSION_3) == 1 &&
                X509_set_pubkey(made, key) == 1,
            "OpenSSL makes certificates");
  set_random_serial(made);
  set_validity(made, kRootLifetime);
  std::string const common_name = new_common_name();
  X509_NAME* const name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.data()),
                             static_cast<int>(common_name.size()), -1, 0);
  X509_set_issuer_name(made, name);
  add_extension(made, made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(made, made, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(made, made, NID_subject_key_identifier, "hash");
  sign(made, key);
  return certificate;
}

/// Writes the certificate last: once it exists, its key does, too.
Result<void> make_pair(const fs::path& directory) {
  PrivateKeyPtr const key = make_p256_key();
  X509Ptr const certificate = make_certificate(key.get());

  BioPtr const key_pem(BIO_new(BIO_s_mem()));
  BioPtr const certificate_pem(BIO_new(BIO_s_mem()));
  invariant(PEM_write_bio_PrivateKey(key_pem.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                     nullptr) == 1 &&
                PEM_write_bio_X509(certificate_pem.get(), certificate.get()) == 1,
            "OpenSSL writes PEM");
  auto const written =
      replace_file(bio_text(key_pem.get()), key_file(directory), S_IRUSR | S_IWUSR);
  if (!written) return written;
  return replace_file(bio_text(certificate_pem.get()), certificate_file(directory),
                      S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
}

}  // namespace

fs::path CertificateAuthority::default_directory() {
  return user_folder("XDG_DATA_HOME", fs::path(".local") / "share") / "reprise" / "ca";
}

Result<CertificateAuthority> CertificateAuthority::open(const fs::path& directory) {
  auto const certificate_text = read_pem(certificate_file(directory), kOthersMayWrite);
  if (!certificate_text) return fail(certificate_text.error());
  if (auto const checked = check_directory(directory); !checked) return fail(checked.error());
  auto const key_text = read_pem(key_file(directory), kOthersMayAnything);
  if (!key_text) {
    bool const is_missing = key_text.error() == std::errc::no_such_file_or_directory;
    return fail(is_missing ? make_error_code(trust_errc::authority_key_missing) : key_text.error());
  }

  CertificateAuthority authority;
  authority.certificate_path_ = certificate_file(directory);
  authority.read(*certificate_text, *key_text);
  X509* const certificate = authority.certificate();
  EVP_PKEY* const key = authority.key();
  bool const is_pair =
      certificate != nullptr && key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
      X509_check_private_key(certificate, key) == 1 && X509_check_ca(certificate) == 1;
  ERR_clear_error();
  if (!is_pair) return fail(trust_errc::authority_damaged);
  if (authority.not_after() < std::chrono::system_clock::now() + kLifetimeLeftMin) {
    return fail(trust_errc::authority_expiring);
  }
  return authority;
}

Result<CertificateAuthority> CertificateAuthority::open_files(const fs::path& certificate,
                                                              const fs::path& key) {
  constexpr int kBitsMin = 1024;
  auto const certificate_text = read_pem(certificate, 0);
  if (!certificate_text) return fail(certificate_text.error());
  auto const key_text = read_pem(key, 0);
  if (!key_text) return fail(key_text.error());
  CertificateAuthority authority;
  authority.certificate_path_ = certificate;
  authority.lends_its_key_ = true;
  authority.read(*certificate_text, *key_text);
  bool const is_pair = authority.certificate() != nullptr && authority.key() != nullptr &&
                       X509_check_private_key(authority.certificate(), authority.key()) == 1;
  ERR_clear_error();
  if (!is_pair) return fail(trust_errc::root_unusable);
  auto const kind = EVP_PKEY_get_base_id(authority.key());
  bool const is_known = kind == EVP_PKEY_EC || kind == EVP_PKEY_RSA;
  if (!is_known || (authority.is_rsa() && EVP_PKEY_get_bits(authority.key()) < kBitsMin)) {
    return fail(trust_errc::root_unusable);
  }
  return authority;
}

void CertificateAuthority::read(std::string_view certificate, std::string_view key) {
  certificate_.reset(
      PEM_read_bio_X509(memory_bio(certificate).get(), nullptr, no_password, nullptr));
  key_.reset(PEM_read_bio_PrivateKey(memory_bio(key).get(), nullptr, no_password, nullptr));
}

Result<CertificateAuthority> CertificateAuthority::open_or_create(const fs::path& directory) {
  auto opened = open(directory);
  if (opened || opened.error() != std::errc::no_such_file_or_directory) return opened;

  if (auto const made = make_private_directories(directory); !made) return fail(made.error());
  if (auto const checked = check_directory(directory); !checked) return fail(checked.error());
  auto const lock = lock_directory(directory);
  if (!lock) return fail(lock.error());
  opened = open(directory);  // another process may have been first
  if (opened || opened.error() != std::errc::no_such_file_or_directory) return opened;
  if (auto const made = make_pair(directory); !made) return fail(made.error());
  return open(directory);
}

std::string CertificateAuthority::spki_sha256_base64() const {
  unsigned char* der = nullptr;
  int const length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate()), &der);
  invariant(length > 0, "a public key has an encoding");
  Sha256 const digest =
      sha256({reinterpret_cast<const std::byte*>(der), static_cast<std::size_t>(length)});
  OPENSSL_free(der);
  return base64(digest);
}

std::string CertificateAuthority::common_name() const {
  std::array<char, 65> text{};  // X.520's limit for a common name is 64
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate()), NID_commonName, text.data(),
                            text.size());
  return text.data();
}

std::chrono::system_clock::time_point CertificateAuthority::not_after() const {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate()), &time) != 1) return {};
  return std::chrono::system_clock::from_time_t(::timegm(&time));
}

}  // namespace reprise
