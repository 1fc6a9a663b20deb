// The process that becomes the program. All that does not depend on the order is done before the order comes.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOCKED_BYTES (64 * 1024)
#define SMALLEST_STACK (8ull << 20)
#define STACK_ROOM (16ull << 20) // endless recursion should meet the stack's end before the memory's
#define DATA_FACTOR 8            // managed runtimes map far more than they touch
#define DATA_EXTRA (4ull << 30)
#define LOOSE_PROCESSES 16
#define LOOSE_OF_USER 1024 // how many more of the same user may come while a run goes on, where they count as the run's
#define WAITING_SIGNALS 1024 // and timers, which each have one

static struct shared *shared;

static void must(bool done, const char *what) {
  if (done) return;
  fail_stage(shared, what);
  _exit(127);
}

static void drop_rights(void) {
  if (cage.slot_lock >= 0) {
    must(setgroups(0, NULL) == 0, "groups");
    must(syscall(SYS_setresgid, cage.gid, cage.gid, cage.gid) == 0, "group");
  }
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++) prctl(PR_CAPBSET_DROP, capability);
  if (cage.slot_lock >= 0) must(syscall(SYS_setresuid, cage.uid, cage.uid, cage.uid) == 0, "user");
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  must(syscall(SYS_capset, &head, none) == 0, "capabilities");
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
}

static void limit(int resource, uint64_t soft, uint64_t hard, const char *what) {
  struct rlimit now, wanted = {soft, hard};
  // An owner that is limited already can only be limited further.
  if (getrlimit((__rlimit_resource_t)resource, &now) == 0) {
    if (wanted.rlim_max > now.rlim_max) wanted.rlim_max = now.rlim_max;
    if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
  }
  must(setrlimit((__rlimit_resource_t)resource, &wanted) == 0, what);
}

static void set_limits(void) {
  const struct limits *limits = &shared->limits;
  uint64_t seconds = limits->cpu_us / 1000000 + 2;
  limit(RLIMIT_CPU, seconds, seconds + 1, "cpu limit");
  uint64_t stack = limits->memory > 2 * STACK_ROOM ? limits->memory - STACK_ROOM : limits->memory / 2;
  if (stack < SMALLEST_STACK) stack = SMALLEST_STACK;
  limit(RLIMIT_STACK, stack, stack, "stack limit");
  // The C library gives every thread a stack as large as the main thread's may become, and all of it is data. What is touched of it is
  // for the watch to hold: this limit only refuses what nobody could mean.
  uint64_t data = limits->memory * DATA_FACTOR + DATA_EXTRA + limits->processes * stack;
  if (cage.cgroup == 0) limit(RLIMIT_DATA, data, data, "data limit");
  limit(RLIMIT_FSIZE, limits->box + 1, limits->box + 1, "file size limit");
  bool few = cage.cgroup == 0 && cage.profile == PROFILE_JUDGE && limits->files > OPEN_FILES_WATCHED;
  uint64_t files = few ? OPEN_FILES_WATCHED : limits->files;
  limit(RLIMIT_NOFILE, files, files, "open files limit");
  limit(RLIMIT_CORE, 1, 1, "core limit"); // 0 would still start the host's program for crashes, where it has one; 1 does not
  limit(RLIMIT_MEMLOCK, LOCKED_BYTES, LOCKED_BYTES, "locked memory limit");
  limit(RLIMIT_RTPRIO, 0, 0, "priority limit"); // where the user may have more, a program would come before whoever watches it
  limit(RLIMIT_NICE, 0, 0, "priority limit");
  limit(RLIMIT_MSGQUEUE, LOCKED_BYTES, LOCKED_BYTES, "message queue limit");
  if (cage.profile == PROFILE_JUDGE) limit(RLIMIT_SIGPENDING, WAITING_SIGNALS, WAITING_SIGNALS, "signal limit");
  // Nobody tells us of processes that this limit refuses, so whoever counts must come first: the cgroup, or the watch, which has to
  // find more than are allowed. In a user namespace of its own the helper and init count too; without one, and without a user of its
  // own, the count is all of the user's, and whatever else that user starts meanwhile must not take a thread from the program.
  uint64_t others = cage.cgroup != 0 ? 0 : cage.tier == TIER_USER ? 2 : cage.slot_lock < 0 ? tasks_of_user() + LOOSE_OF_USER : 0;
  uint64_t most = limits->processes + others + LOOSE_PROCESSES;
  limit(RLIMIT_NPROC, most, most, "process limit");
}

static const char *strings_of(char **into, const char *at, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    into[i] = (char *)at;
    at += strlen(at) + 1;
  }
  into[count] = NULL;
  return at;
}

// Waits for the order; with it may come the descriptor that is to be standard input.
static int wait_for_order(int socket) {
  char message = 0, room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&message, 1};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  ssize_t got;
  do got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0 || message != 'G') _exit(127);
  struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
  int input = -1;
  if (rights != NULL && rights->cmsg_type == SCM_RIGHTS) memcpy(&input, CMSG_DATA(rights), sizeof input);
  return input;
}

void program_main(struct stage *stage, int socket, const int ends[3]) {
  shared = stage->shared;
  setsid();
  umask(0022);
  bool bare = cage.tier == TIER_LANDLOCK;
  bool in_box = cage.profile == PROFILE_JUDGE;
  must(in_box ? (bare ? fchdir(stage->box) : chdir("/box")) == 0 : chdir(cage.folder) == 0, "working folder");
  must(cage.cgroup == 0 || set_oom_first(), "out-of-memory score");
  // Settings of the whole machine are among what /proc shows.
  must(bare || set_mount("/proc", MOUNT_ATTR_RDONLY, 0) == 0, "read-only /proc");
  drop_rights();
  must(filter_install() == 0, "system call filter");
  if (bare) prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction plain = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &plain, NULL);
  sigset_t none;
  sigemptyset(&none);

  uint64_t ready_ns = now_ns();
  int input = wait_for_order(socket);
  set_limits();
  if (bare) must(landlock_install(stage), "Landlock");
  static const int live[3] = {LIVE_FIRST, LIVE_FIRST + 1, LIVE_FIRST + 2};
  const int *from = cage.live ? live : ends;
  must(dup2(input >= 0 ? input : from[0], 0) == 0 && dup2(from[1], 1) == 1 && dup2(from[2], 2) == 2, "streams");
  // One that was in its place already would still close at exec.
  for (int fd = 0; fd < 3; fd++) must(fcntl(fd, F_SETFD, 0) == 0, "streams");
  must(syscall(SYS_close_range, 3u, ~0u, 0u) == 0, "descriptors");
  if (cage.proxy_port != 0) relay_start();
  if (cage.proxy_port != 0 && !cage.local_sockets) must(local_sockets_refuse() == 0, "local sockets");
  char *arguments[MAX_ARGS + 1], *environment[MAX_ARGS + 1];
  const char *at = shared->strings;
  for (uint32_t i = 0; i < shared->bind_count; i++) at += strlen(at) + 1;
  strings_of(environment, strings_of(arguments, at, shared->argc), shared->envc);
  sigprocmask(SIG_SETMASK, &none, NULL);
  shared->prelude_us = own_cpu_us();
  shared->start_ns = now_ns();
  // Our own work waits for nothing but a processor: what is not processor time of it is that.
  uint64_t prelude_wall_us = (ready_ns - shared->forked_ns + shared->start_ns - shared->go_ns) / 1000;
  if (prelude_wall_us > shared->prelude_us) shared->prelude_wait_us = prelude_wall_us - shared->prelude_us;
  execve(arguments[0], arguments, environment);
  must(false, "exec");
  _exit(127);
}

bool set_oom_first(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool done = write(file, "1000", 4) == 4;
  close(file);
  return done;
}
