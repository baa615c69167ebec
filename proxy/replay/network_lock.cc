#include "proxy/replay/network_lock.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace reprise {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name this architecture's AUDIT_ARCH constant"
#endif

constexpr unsigned kDeny = SECCOMP_RET_ERRNO | EACCES;

}  // namespace

Result<void> deny_outgoing_connections() {
  constexpr auto kArchitectureOffset = offsetof(seccomp_data, arch);
  constexpr auto kNumberOffset = offsetof(seccomp_data, nr);
  // The numbering of another architecture (32-bit, x32) would bypass the filter.
  constexpr unsigned kX32Bit = 0x40000000;
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArchitectureOffset),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kDeny),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumberOffset),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 4, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 3, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 2, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kDeny),
  };
  sock_fprog const program{.len = filter.size(), .filter = filter.data()};
  auto const system_error = [] { return fail(std::error_code(errno, std::system_category())); };
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error();
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    return system_error();
  }
  return {};
}

}  // namespace reprise
