#include "proxy/tls/certificate_authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "proxy/tls/certificate_builder.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

mode_t mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class UmaskFor {
 public:
  explicit UmaskFor(mode_t mask) : before_(::umask(mask)) {}
  ~UmaskFor() { ::umask(before_); }
  UmaskFor(const UmaskFor&) = delete;
  UmaskFor& operator=(const UmaskFor&) = delete;

 private:
  mode_t before_;
};

class Authority : public ::testing::Test {
 protected:
  fs::path directory() const { return folder_ / "data" / "ca"; }
  fs::path key_file() const { return directory() / "ca-key.pem"; }
  fs::path certificate_file() const { return directory() / "ca.pem"; }

  CertificateAuthority make() const {
    auto made = CertificateAuthority::open_or_create(directory());
    EXPECT_TRUE(made.has_value()) << made.error().message();
    return std::move(made).value();
  }

  std::error_code open_error() const {
    auto const opened = CertificateAuthority::open_or_create(directory());
    return opened ? std::error_code() : opened.error();
  }

  ScratchFolder folder_;
};

TEST_F(Authority, IsMadeOnceAndOpenedAfterwards) {
  auto const made = make();
  EXPECT_EQ(made.certificate_path(), certificate_file());
  auto const text = read_file(certificate_file());
  auto const opened = make();
  EXPECT_EQ(X509_cmp(made.certificate(), opened.certificate()), 0);
  EXPECT_EQ(read_file(certificate_file()), text);
}

TEST_F(Authority, IsPrivateWhateverTheUmask) {
  for (mode_t const mask : {0000, 0022, 0077, 0777}) {
    UmaskFor const umask(mask);
    fs::remove_all(folder_ / "data");
    make();
    EXPECT_EQ(mode_of(key_file()), 0600U);
    EXPECT_EQ(mode_of(certificate_file()), 0644U);
    EXPECT_EQ(mode_of(directory()), 0700U);
    EXPECT_EQ(mode_of(directory().parent_path()), 0700U);
  }
}

TEST_F(Authority, HasTheFieldsOfACertificateAuthority) {
  auto const authority = make();
  X509* const certificate = authority.certificate();
  EXPECT_EQ(X509_verify(certificate, authority.key()), 1);
  EXPECT_EQ(X509_check_ca(certificate), 1);
  EXPECT_EQ(X509_get_pathlen(certificate), 0);
  EXPECT_EQ(X509_get_key_usage(certificate), unsigned{KU_KEY_CERT_SIGN | KU_CRL_SIGN});
  EXPECT_NE(X509_get0_subject_key_id(certificate), nullptr);
  for (int const nid : {NID_basic_constraints, NID_key_usage}) {
    int const at = X509_get_ext_by_NID(certificate, nid, -1);
    EXPECT_EQ(X509_EXTENSION_get_critical(X509_get_ext(certificate, at)), 1);
  }
  EXPECT_THAT(authority.common_name(), ::testing::MatchesRegex("reprise local CA [0-9a-f]{8}"));
  auto const now = std::chrono::system_clock::now();
  EXPECT_LT(X509_cmp_current_time(X509_get0_notBefore(certificate)), 0);
  EXPECT_GT(authority.not_after(), now + std::chrono::days(5 * 365 - 1));
  EXPECT_LT(authority.not_after(), now + std::chrono::days(5 * 365 + 1));
}

TEST_F(Authority, IsOneForProcessesThatStartTogether) {
  constexpr int kRounds = 5;
  constexpr int kProcesses = 8;
  for (int round = 0; round < kRounds; ++round) {
    fs::remove_all(folder_ / "data");
    int start[2];
    int answers[2];
    ASSERT_EQ(::pipe(start), 0);
    ASSERT_EQ(::pipe(answers), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      pid_t const child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ::close(start[1]);
        char byte = 0;
        // All go when the parent closes its end.
        bool const started = ::read(start[0], &byte, 1) == 0;
        auto const opened = CertificateAuthority::open_or_create(directory());
        auto const answer = opened && started ? opened->spki_sha256_base64() : std::string(44, '?');
        _exit(::write(answers[1], answer.data(), answer.size()) == 44 ? 0 : 1);
      }
      children.push_back(child);
    }
    ::close(start[0]);
    ::close(start[1]);
    ::close(answers[1]);
    std::set<std::string> keys;
    std::string answer(44, ' ');
    for (int i = 0; i < kProcesses; ++i) {
      ASSERT_EQ(::read(answers[0], answer.data(), answer.size()), 44);
      keys.insert(answer);
    }
    ::close(answers[0]);
    for (pid_t const child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    EXPECT_THAT(keys, ::testing::ElementsAre(make().spki_sha256_base64()));
  }
}

TEST_F(Authority, IsMadeAnewAfterAKillBetweenItsTwoFiles) {
  make();
  fs::remove(certificate_file());
  write_file(directory() / "ca-key.pem.new", "left by the killed process");
  auto const made = make();
  EXPECT_EQ(X509_verify(made.certificate(), made.key()), 1);
  EXPECT_FALSE(fs::exists(directory() / "ca-key.pem.new"));
}

TEST_F(Authority, IsNotMadeByOpen) {
  auto const opened = CertificateAuthority::open(directory());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(fs::exists(directory()));
}

TEST_F(Authority, IsRefusedWhenOthersMayReadTheKey) {
  make();
  for (mode_t const mode : {0640, 0604, 0660, 0644}) {
    ASSERT_EQ(::chmod(key_file().c_str(), mode), 0);
    EXPECT_EQ(open_error(), trust_errc::authority_open);
  }
  EXPECT_THAT(open_error().message(), ::testing::HasSubstr("mode 600 on ca-key.pem"));
}

TEST_F(Authority, IsRefusedWhenOthersMayReplaceIt) {
  make();
  ASSERT_EQ(::chmod(directory().c_str(), 0777), 0);
  EXPECT_EQ(open_error(), trust_errc::authority_open);
  ASSERT_EQ(::chmod(directory().c_str(), 0755), 0);
  EXPECT_EQ(open_error(), std::error_code());
  ASSERT_EQ(::chmod(certificate_file().c_str(), 0666), 0);
  EXPECT_EQ(open_error(), trust_errc::authority_open);
}

TEST_F(Authority, IsRefusedWhenItIsNotAPair) {
  make();
  auto const key = read_file(key_file());
  auto const certificate = read_file(certificate_file());

  for (auto const& damaged :
       {std::string(), std::string("no PEM"), key.substr(0, key.size() / 2), certificate}) {
    write_file(key_file(), damaged);
    EXPECT_EQ(open_error(), trust_errc::authority_damaged);
    EXPECT_EQ(open_error(), std::errc::bad_message);
    EXPECT_EQ(read_file(key_file()), damaged) << "somebody's file was overwritten";
  }
  write_file(key_file(), key);
  write_file(certificate_file(), "no PEM");
  EXPECT_EQ(open_error(), trust_errc::authority_damaged);

  fs::remove(certificate_file());
  make();
  write_file(certificate_file(), certificate);  // of the earlier key
  EXPECT_EQ(open_error(), trust_errc::authority_damaged);

  fs::remove(key_file());
  EXPECT_EQ(open_error(), trust_errc::authority_key_missing);
}

TEST_F(Authority, DoesNotAskForThePasswordOfAnEncryptedKey) {
  auto const authority = make();
  BIO* const file = BIO_new_file(key_file().c_str(), "w");
  char password[] = "secret";
  ASSERT_EQ(
      PEM_write_bio_PrivateKey(file, authority.key(), EVP_aes_128_cbc(),
                               reinterpret_cast<unsigned char*>(password), 6, nullptr, nullptr),
      1);
  BIO_free_all(file);
  EXPECT_EQ(open_error(), trust_errc::authority_damaged);
}

TEST_F(Authority, IsRefusedWhenItExpiresSoon) {
  auto const authority = make();
  auto const resign_for = [&](std::chrono::days lifetime) {
    set_validity(authority.certificate(), lifetime);
    sign(authority.certificate(), authority.key());
    BIO* const file = BIO_new_file(certificate_file().c_str(), "w");
    ASSERT_EQ(PEM_write_bio_X509(file, authority.certificate()), 1);
    BIO_free_all(file);
  };
  resign_for(std::chrono::days(31));
  EXPECT_EQ(open_error(), std::error_code());
  resign_for(std::chrono::days(29));
  EXPECT_EQ(open_error(), trust_errc::authority_expiring);
  EXPECT_THAT(open_error().message(), ::testing::HasSubstr("reprise ca install"));
}

TEST_F(Authority, PassesOnTheSystemsErrors) {
  write_file(folder_ / "data", "a file where the folder should be");
  EXPECT_EQ(open_error(), std::errc::not_a_directory);
}

TEST_F(Authority, RefusesWhatIsNoRegularFile) {
  make();
  fs::remove(certificate_file());
  ASSERT_EQ(::mkfifo(certificate_file().c_str(), 0644), 0);
  EXPECT_EQ(open_error(), trust_errc::authority_damaged);
}

TEST_F(Authority, NamesItsPublicKeyAsChromiumWants) {
  auto const authority = make();
  auto const command = "openssl x509 -in '" + certificate_file().string() +
                       "' -pubkey -noout | openssl pkey -pubin -outform der | "
                       "openssl dgst -sha256 -binary | openssl base64 -A";
  FILE* const output = ::popen(command.c_str(), "r");
  std::string expected(44, ' ');
  ASSERT_EQ(std::fread(expected.data(), 1, 44, output), 44U);
  ::pclose(output);
  EXPECT_EQ(authority.spki_sha256_base64(), expected);
}

TEST(AuthorityDirectory, FollowsTheBaseDirectorySpecification) {
  std::string const home = std::getenv("HOME") ? std::getenv("HOME") : "";
  ::setenv("HOME", "/home/someone", 1);
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(CertificateAuthority::default_directory(), "/data/reprise/ca");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  EXPECT_EQ(CertificateAuthority::default_directory(), "/home/someone/.local/share/reprise/ca");
  ::unsetenv("XDG_DATA_HOME");
  EXPECT_EQ(CertificateAuthority::default_directory(), "/home/someone/.local/share/reprise/ca");
  ::setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace reprise
