// Which system calls a program may make: all but those that reach beyond it or into the kernel's newest corners.
#include "cage.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#define FOREIGN_BIT 0x40000000u
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter knows x86-64 and arm64"
#endif

#define NEW_NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | 0x80 /* time */)
#define MAX_RULES 256

static struct sock_filter rules[MAX_RULES];
static unsigned short used;

static void add(struct sock_filter rule) {
  if (used < MAX_RULES) rules[used++] = rule;
}
#define LOAD(field) add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
#define ANSWER(what) add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (what)))
// Skips `count` rules unless the loaded word is `value`.
#define UNLESS(value, count) add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count)))
#define UNLESS_BIT(bits, count) add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (count)))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))

static const int DENIED[] = {
  SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, 425, 426, 427 /* io_uring */, SYS_userfaultfd, SYS_perf_event_open, SYS_ptrace,
  SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, 438 /* pidfd_getfd */, 440 /* process_madvise */,
  SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428, 429, 430, 431, 432, 433, 442 /* mounts by descriptor */, 457, 458, 467 /* of mounts */,
  SYS_unshare, SYS_setns, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot,
  SYS_swapon, SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_acct, SYS_quotactl, 443, SYS_syslog,
  SYS_vhangup, SYS_lookup_dcookie, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init, SYS_migrate_pages, SYS_move_pages,
  447 /* memfd_secret */, SYS_nfsservctl, SYS_sethostname, SYS_setdomainname,
#ifdef SYS_iopl
  SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl,
#endif
};
// Memory that neither the size of a process nor a folder's bound counts.
static const int UNCOUNTED[] = {SYS_memfd_create, SYS_shmget, SYS_shmat, SYS_mq_open, SYS_msgget, SYS_semget};

static void sockets(void) {
  bool inet = cage.profile == PROFILE_WORKSPACE && (cage.tier != TIER_LANDLOCK || cage.host_network);
  // Names of local sockets belong to the network: on the host's they would reach the host's services.
  bool local = cage.tier != TIER_LANDLOCK && !cage.host_network;
  LOAD(nr);
  UNLESS(SYS_socket, !inet && !local ? 1 : 2 + (local ? 2 : 0) + (inet ? 4 : 0));
  if (inet || local) LOAD(args[0]);
  if (local) {
    UNLESS(AF_UNIX, 1);
    ANSWER(SECCOMP_RET_ALLOW);
  }
  if (inet) {
    UNLESS(AF_INET, 1);
    ANSWER(SECCOMP_RET_ALLOW);
    UNLESS(AF_INET6, 1);
    ANSWER(SECCOMP_RET_ALLOW);
  }
  ANSWER(REFUSE(EACCES));
}

static void build(void) {
  LOAD(arch);
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0));
  ANSWER(SECCOMP_RET_KILL_PROCESS);
  LOAD(nr);
#ifdef FOREIGN_BIT
  UNLESS_BIT(FOREIGN_BIT, 1);
  ANSWER(SECCOMP_RET_KILL_PROCESS);
#endif
  for (size_t i = 0; i < sizeof DENIED / sizeof *DENIED; i++) {
    UNLESS((unsigned)DENIED[i], 1);
    ANSWER(REFUSE(EPERM));
  }
  if (cage.cgroup == 0)
    for (size_t i = 0; i < sizeof UNCOUNTED / sizeof *UNCOUNTED; i++) {
      UNLESS((unsigned)UNCOUNTED[i], 1);
      ANSWER(REFUSE(ENOSYS));
    }
  // Its flags are behind a pointer; told that it does not exist, C libraries take the older call.
  UNLESS(435 /* clone3 */, 1);
  ANSWER(REFUSE(ENOSYS));
  UNLESS(SYS_clone, 3);
  LOAD(args[0]);
  UNLESS_BIT(NEW_NAMESPACES, 1);
  ANSWER(REFUSE(EPERM));
  LOAD(nr);
  UNLESS(SYS_personality, 4);
  LOAD(args[0]);
  UNLESS(0xffffffffu, 1);
  ANSWER(SECCOMP_RET_ALLOW);
  ANSWER(REFUSE(EPERM));
  LOAD(nr);
  UNLESS(SYS_ioctl, 5);
  LOAD(args[1]);
  UNLESS(0x5412 /* TIOCSTI */, 1);
  ANSWER(REFUSE(EPERM));
  UNLESS(0x541C /* TIOCLINUX */, 1);
  ANSWER(REFUSE(EPERM));
  sockets();
  ANSWER(SECCOMP_RET_ALLOW);
}

void filter_build(void) {
  if (used == 0) build();
}

int filter_install(void) {
  struct sock_fprog program = {.len = used, .filter = rules};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
