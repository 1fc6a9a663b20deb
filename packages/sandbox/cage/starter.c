// Where a cgroup holds the box, every run's init is born in it, from a small process that waits there: being moved in would cost
// milliseconds. The helper stays outside. What it holds for a run (files that it put into the box, input, captured output) is then no part
// of the limit, so that a program gains nothing by giving it back.
#include "cage.h"
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The starter has the helper's descriptors, also those that are opened later: numbers are enough.
struct wanted {
  struct stage stage;
  struct init_ends ends;
  bool live;
};
struct born {
  pid_t pid;
  int pidfd, error;
};

static pid_t starter = -1;
static int starter_pidfd = -1, ours = -1, theirs = -1;

pid_t clone_init(int *pidfd, uint64_t flags) {
  struct clone_args wanted = {.flags = CLONE_PIDFD | flags, .pidfd = (uint64_t)(uintptr_t)pidfd, .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD};
  if (cage.tier != TIER_LANDLOCK) wanted.flags |= CLONE_NEWPID | CLONE_NEWIPC;
  return (pid_t)syscall(SYS_clone3, &wanted, sizeof wanted);
}

_Noreturn static void starter_main(pid_t helper) {
  // We keep the helper's descriptors open: nothing but this tells that it is gone.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != helper) _exit(1);
  prctl(PR_SET_DUMPABLE, 0);
  bool joined = cgroup_join() && unshare(CLONE_NEWCGROUP) == 0;
  oom_last();
  filter_build();
  if (send(theirs, joined ? "j" : "-", 1, MSG_NOSIGNAL) != 1 || !joined) _exit(1);
  for (;;) {
    struct wanted wanted;
    ssize_t got = recv(theirs, &wanted, sizeof wanted, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof wanted) _exit(1);
    struct born born = {.pidfd = -1};
    cage.live = wanted.live;
    // As the helper's child, which waits for it and whose death ends it.
    born.pid = clone_init(&born.pidfd, CLONE_PARENT);
    if (born.pid == 0) init_main(&wanted.stage, &wanted.ends);
    born.error = errno;
    if (send(theirs, &born, sizeof born, MSG_NOSIGNAL) != sizeof born) _exit(1);
  }
}

// The other end of the socket is open in us as well: only the end of the process tells that no answer comes.
static bool hear_starter(void *answer, size_t length) {
  struct pollfd from[2] = {{.fd = ours, .events = POLLIN}, {.fd = starter_pidfd, .events = POLLIN}};
  while (poll(from, 2, -1) < 0 && errno == EINTR) continue;
  return recv(ours, answer, length, MSG_DONTWAIT) == (ssize_t)length;
}

// False: the group cannot be joined, and nothing of this is left.
bool starter_open(void) {
  int ends[2];
  char answer = 0;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  ours = ends[0];
  theirs = ends[1];
  pid_t helper = getpid();
  struct clone_args same_files = {.flags = CLONE_FILES | CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&starter_pidfd, .exit_signal = SIGCHLD};
  starter = (pid_t)syscall(SYS_clone3, &same_files, sizeof same_files);
  if (starter == 0) starter_main(helper);
  if (starter > 0 && hear_starter(&answer, 1) && answer == 'j') return true;
  starter_close();
  return false;
}

pid_t starter_start(const struct stage *stage, const struct init_ends *ends, int *pidfd) {
  struct wanted wanted = {.stage = *stage, .ends = *ends, .live = cage.live};
  struct born born = {.pid = -1, .pidfd = -1, .error = ECHILD};
  if (send(ours, &wanted, sizeof wanted, MSG_NOSIGNAL) == sizeof wanted && !hear_starter(&born, sizeof born)) born.pid = -1;
  *pidfd = born.pidfd;
  errno = born.error;
  return born.pid;
}

void starter_close(void) {
  if (starter > 0) {
    kill(starter, SIGKILL);
    while (waitpid(starter, NULL, 0) < 0 && errno == EINTR) continue;
  }
  starter = -1;
  int *const fds[] = {&starter_pidfd, &ours, &theirs};
  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
    if (*fds[i] >= 0) close(*fds[i]);
    *fds[i] = -1;
  }
}
