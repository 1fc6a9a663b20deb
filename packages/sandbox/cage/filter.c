// Which system calls a program may make: all but those that reach beyond it or into the kernel's newest corners.
#include "filter.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
#define MAX_RULES 512
#define OTHERS_RIGHTS (S_ISUID | S_ISGID) // a file with these runs with the rights of its owner, whoever starts it
#define SOCKET_TYPES 0xf                  // the rest of a socket's type are flags
#define UNNAMED_FILE 020000000            // the bit of O_TMPFILE that is no other flag's
#define HUGE_FILE 4u                      // MFD_HUGETLB, which older headers do not have
#define NEWEST_KNOWN 470                  // calls that came later were never looked at here; new ones have the same number everywhere

static struct sock_filter rules[MAX_RULES];
static unsigned short used;

void add_rule(struct sock_filter rule) {
  if (used == MAX_RULES) give_up("the filter has too many rules");
  rules[used++] = rule;
}

static const int DENIED[] = {
  SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, 425, 426, 427 /* io_uring */, SYS_userfaultfd, SYS_perf_event_open, SYS_ptrace,
  SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, 438 /* pidfd_getfd */, 440 /* process_madvise */, 448 /* process_mrelease */,
  460 /* lsm_set_self_attr */, 470 /* listns */,
  SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428, 429, 430, 431, 432, 433, 442 /* mounts by descriptor */, 457, 458, 467 /* of mounts */,
  SYS_unshare, SYS_setns, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot,
  SYS_swapon, SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_acct, SYS_quotactl, 443, SYS_syslog,
  SYS_vhangup, SYS_lookup_dcookie, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init, SYS_fanotify_mark, SYS_migrate_pages, SYS_move_pages,
  447 /* memfd_secret */, SYS_nfsservctl, SYS_sethostname, SYS_setdomainname,
#ifdef SYS_iopl
  SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl,
#endif
};
// What they are asked to do is behind a pointer. Told that they do not exist, programs take the older calls.
static const int UNREADABLE[] = {435 /* clone3 */, 437 /* openat2 */, 469 /* file_setattr */};
// Capabilities of files are among the attributes, and which one is meant is behind a pointer.
static const int ATTRIBUTES[] = {SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, 463 /* setxattrat */};
// None can be set, so there is none to be taken away; those of somebody else are not a program's to take.
static const int LOST_ATTRIBUTES[] = {SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, 466 /* removexattrat */};
// Memory that neither the size of a process nor a folder's bound counts.
static const int UNCOUNTED[] = {SYS_memfd_create, SYS_shmget, SYS_shmat, SYS_mq_open, SYS_msgget, SYS_semget, SYS_vmsplice, SYS_splice, SYS_tee};
// Who sends a descriptor away may close it, and what it leads to is then in nobody's hands: a pipe that holds something is in no list.
static const int SENT[] = {SYS_sendmsg, SYS_sendmmsg};
// What a judged program finds in its input's pipe is in the helper's memory: in pipes of its own it would keep, and could fill up, pages that
// are not counted as its own.
static const int HANDED_ON[] = {SYS_splice, SYS_tee};
// The machine code of a filter is in no group's memory, and one bound on it holds for the whole machine.
static const int FILTERS[] = {SYS_seccomp};

void refuse_all(const int *calls, size_t count, unsigned error) {
  for (size_t i = 0; i < count; i++) {
    UNLESS((unsigned)calls[i], 1);
    ANSWER(REFUSE(error));
  }
}

static void refuse_unless(int call, int argument, unsigned value) {
  UNLESS((unsigned)call, 4);
  LOAD(args[argument]);
  IF(value, 1);
  ANSWER(REFUSE(EPERM));
  LOAD(nr);
}

static void refuse_value(int call, int argument, unsigned value) {
  UNLESS((unsigned)call, 4);
  LOAD(args[argument]);
  UNLESS(value, 1);
  ANSWER(REFUSE(EPERM));
  LOAD(nr);
}

static void refuse_bits_with(int call, int argument, unsigned bits, unsigned error) {
  UNLESS((unsigned)call, 4);
  LOAD(args[argument]);
  UNLESS_BIT(bits, 1);
  ANSWER(REFUSE(error));
  LOAD(nr);
}

static void refuse_bits(int call, int argument, unsigned bits) { refuse_bits_with(call, argument, bits, EPERM); }

// The mode counts only where a file may be made: otherwise there may be anything in its place.
static void refuse_making(int call, int flags, int mode) {
  UNLESS((unsigned)call, 6);
  LOAD(args[flags]);
  UNLESS_BIT(O_CREAT | UNNAMED_FILE, 3);
  LOAD(args[mode]);
  UNLESS_BIT(OTHERS_RIGHTS, 1);
  ANSWER(REFUSE(EPERM));
  LOAD(nr);
}

static void refuse_devices(int call, int mode) {
  UNLESS((unsigned)call, 7);
  LOAD(args[mode]);
  KEEP(S_IFMT);
  UNLESS(S_IFCHR, 1);
  ANSWER(REFUSE(EPERM));
  UNLESS(S_IFBLK, 1);
  ANSWER(REFUSE(EPERM));
  LOAD(nr);
}

// What a box leaves in a folder may belong to root: nothing in it may lend its owner's rights.
static void modes(void) {
  refuse_bits(SYS_fchmod, 1, OTHERS_RIGHTS);
  refuse_bits(SYS_fchmodat, 2, OTHERS_RIGHTS);
  refuse_bits(452 /* fchmodat2 */, 2, OTHERS_RIGHTS);
  refuse_bits(SYS_mkdirat, 2, OTHERS_RIGHTS);
  refuse_bits(SYS_mknodat, 2, OTHERS_RIGHTS);
  refuse_devices(SYS_mknodat, 2);
  refuse_making(SYS_openat, 2, 3);
#ifdef SYS_open
  refuse_bits(SYS_chmod, 1, OTHERS_RIGHTS);
  refuse_bits(SYS_creat, 1, OTHERS_RIGHTS);
  refuse_bits(SYS_mkdir, 1, OTHERS_RIGHTS);
  refuse_bits(SYS_mknod, 1, OTHERS_RIGHTS);
  refuse_devices(SYS_mknod, 1);
  refuse_making(SYS_open, 1, 2);
#endif
}

// A renaming may ask for a device to be left in its place, or for two names to be swapped, which moves what nobody could take away. All but
// the wish to replace nothing is refused as by a file system that cannot do it, and programs take another way.
static void renamings(void) { refuse_bits_with(SYS_renameat2, 4, ~(unsigned)RENAME_NOREPLACE, EINVAL); }

// Words typed into a terminal, and attributes of files by the door that is older than file_setattr.
static void requests(void) {
  static const struct {
    unsigned request, error;
  } REFUSED[] = {{0x5412 /* TIOCSTI */, EPERM}, {0x541C /* TIOCLINUX */, EPERM}, {FS_IOC_SETFLAGS, EOPNOTSUPP}, {FS_IOC_FSSETXATTR, EOPNOTSUPP}};
  const unsigned char count = sizeof REFUSED / sizeof *REFUSED;
  UNLESS(SYS_ioctl, 2 + 2 * count);
  LOAD(args[1]);
  for (unsigned char i = 0; i < count; i++) {
    UNLESS(REFUSED[i].request, 1);
    ANSWER(REFUSE(REFUSED[i].error));
  }
  LOAD(nr);
}

// Pages that a machine has set aside are in nobody's size, and a cgroup's limit on memory does not count them. Programs that are refused them
// take ordinary ones.
static void huge_pages(void) {
  refuse_bits(SYS_mmap, 3, MAP_HUGETLB);
  refuse_bits(SYS_memfd_create, 1, HUGE_FILE);
  refuse_bits(SYS_shmget, 2, SHM_HUGETLB);
}

// Without a user of its own a program could slow, starve or blind whoever watches it. Only 0 is surely itself.
static void others(void) {
  static const int BY_PROCESS[] = {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr};
  for (size_t i = 0; i < sizeof BY_PROCESS / sizeof *BY_PROCESS; i++) refuse_unless(BY_PROCESS[i], 0, 0);
  refuse_unless(SYS_setpriority, 0, 0 /* PRIO_PROCESS */);
  refuse_unless(SYS_setpriority, 1, 0);
  refuse_unless(SYS_ioprio_set, 0, 1 /* IOPRIO_WHO_PROCESS */);
  refuse_unless(SYS_ioprio_set, 1, 0);
  refuse_value(SYS_prctl, 0, 62 /* PR_SCHED_CORE */);
}

// A pair that is connected for good. One of datagrams can be sent anywhere, and so can those of other families.
static void refuse_loose_pairs(void) {
  UNLESS(SYS_socketpair, 6);
  LOAD(args[1]);
  KEEP(SOCKET_TYPES);
  IF(SOCK_STREAM, 2);
  IF(SOCK_SEQPACKET, 1);
  ANSWER(REFUSE(EACCES));
  LOAD(nr);
}

// What sockets and pipes hold is counted by their number, so none may hold more than it does at first. A size asked for a socket is a
// wish, which the kernel grants as far as it likes and says yes to; here it grants nothing.
static void buffer_sizes(void) {
  static const unsigned SIZES[] = {SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE};
  const unsigned char count = sizeof SIZES / sizeof *SIZES;
  refuse_value(SYS_fcntl, 1, F_SETPIPE_SZ);
  UNLESS(SYS_setsockopt, 4 + 2 * count);
  LOAD(args[1]);
  UNLESS(SOL_SOCKET, 1 + 2 * count);
  LOAD(args[2]);
  for (unsigned char i = 0; i < count; i++) {
    UNLESS(SIZES[i], 1);
    ANSWER(REFUSE(0));
  }
  LOAD(nr);
}

static void sockets(void) {
  bool inet = cage.profile == PROFILE_WORKSPACE && (cage.tier != TIER_LANDLOCK || cage.host_network);
  // Who sees the file of a local socket reaches whoever listens behind it, read-only or not, and in a folder of the host there may be
  // some. Names without a file belong to the network. So they are for private roots, and for boxes whose relay dials one.
  bool local = cage.tier != TIER_LANDLOCK && !cage.host_network && (cage.profile == PROFILE_JUDGE || cage.proxy_port != 0);
  LOAD(nr);
  refuse_unless(SYS_socketpair, 0, AF_UNIX);
  if (!local) refuse_loose_pairs();
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
  IF(OUR_ARCH, 1);
  ANSWER(SECCOMP_RET_KILL_PROCESS);
  LOAD(nr);
#ifdef FOREIGN_BIT
  UNLESS_BIT(FOREIGN_BIT, 1);
  ANSWER(SECCOMP_RET_KILL_PROCESS);
#endif
  add_rule((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_KNOWN, 0, 1));
  ANSWER(REFUSE(ENOSYS));
  REFUSE_ALL(DENIED, EPERM);
  REFUSE_ALL(UNREADABLE, ENOSYS);
  REFUSE_ALL(ATTRIBUTES, EOPNOTSUPP);
  REFUSE_ALL(LOST_ATTRIBUTES, ENODATA);
  if (cage.cgroup == 0) {
    REFUSE_ALL(UNCOUNTED, ENOSYS);
    buffer_sizes();
    if (cage.tier == TIER_LANDLOCK || cage.profile == PROFILE_JUDGE) REFUSE_ALL(SENT, ENOSYS);
  } else if (cage.profile == PROFILE_JUDGE) {
    REFUSE_ALL(HANDED_ON, ENOSYS);
  }
  if (cage.tier == TIER_LANDLOCK || cage.profile == PROFILE_JUDGE) {
    filter_watching();
    refuse_value(SYS_fcntl, 1, F_NOTIFY);
  }
  if (cage.profile == PROFILE_JUDGE) {
    REFUSE_ALL(FILTERS, EPERM);
    refuse_value(SYS_prctl, 0, PR_SET_SECCOMP);
  }
  if (cage.tier == TIER_LANDLOCK) filter_unmediated();
  huge_pages();
  modes();
  renamings();
  requests();
  others();
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
