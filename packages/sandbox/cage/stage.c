// Making the next run ready: folders, pipes, and the first process of its namespaces.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_BOX_BYTES (64u << 20)

void fail_stage(struct shared *shared, const char *at) {
  if (atomic_load(&shared->failed_errno) != 0) return;
  snprintf(shared->failed_at, sizeof shared->failed_at, "%s", at);
  atomic_store(&shared->failed_errno, errno == 0 ? EINVAL : errno);
}

// A program may open its own streams again by name, so the pipes must be its own.
static bool make_pipe(int ends[2]) {
  return pipe2(ends, O_CLOEXEC) == 0 && fchown(ends[0], cage.uid, cage.gid) == 0;
}

static int own_tmpfs(uint64_t bytes, mode_t mode) {
  int mount = new_tmpfs(bytes, mode);
  if (mount >= 0 && fchownat(mount, "", cage.uid, cage.gid, AT_EMPTY_PATH) == 0) return mount;
  return -1;
}

// Without namespaces the box is a real folder, made anew for each run.
static int real_folder(const char *name, mode_t mode) {
  int parent = open(cage.box_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) return -1;
  int folder = -1;
  if (mkdirat(parent, name, 0700) == 0 && fchownat(parent, name, cage.uid, cage.gid, AT_SYMLINK_NOFOLLOW) == 0) {
    folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) fchmod(folder, mode);
  }
  close(parent);
  return folder;
}

struct shared *new_shared(void) {
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) give_up("shared memory");
  return shared;
}

static pid_t new_init(struct stage *stage, const struct init_ends *ends) {
  if (cage.cgroup != 0) return starter_start(stage, ends, &stage->init_pidfd);
  pid_t init = clone_init(&stage->init_pidfd, 0);
  if (init == 0) init_main(stage, ends);
  return init;
}

// False leaves a reason in the shared memory; the next order is answered with it.
bool stage_open(struct stage *stage) {
  memset(stage->shared, 0, offsetof(struct shared, strings));
  uint64_t bytes = stage->box_bytes != 0 ? stage->box_bytes : FIRST_BOX_BYTES;
  bool real = cage.tier == TIER_LANDLOCK;
  stage->init = -1;
  stage->placed = stage->init_pidfd = stage->init_socket = stage->program_socket = stage->in = stage->out = stage->err = -1;
  stage->box = real ? real_folder("box", 0700) : own_tmpfs(bytes, 0755);
  stage->tmp = real ? real_folder("tmp", 0700) : own_tmpfs(bytes, 01777);
  stage->box_bytes = bytes;
  int in[2], out[2], err[2], to_init[2], to_program[2];
  if (stage->box < 0 || stage->tmp < 0 || !make_pipe(in) || !make_pipe(out) || !make_pipe(err) ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_init) != 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_program) != 0) {
    fail_stage(stage->shared, "making a box");
    return false;
  }
  stage->in = in[1];
  stage->out = out[0];
  stage->err = err[0];
  stage->init_socket = to_init[0];
  stage->program_socket = to_program[0];
  const struct init_ends ends = {to_init[1], to_program[1], {in[0], out[1], err[1]}};
  stage->init = new_init(stage, &ends);
  if (stage->init < 0) fail_stage(stage->shared, "starting a run's namespaces");
  const int theirs[5] = {in[0], out[1], err[1], to_init[1], to_program[1]};
  for (int i = 0; i < 5; i++) close(theirs[i]);
  fcntl(stage->in, F_SETFL, O_NONBLOCK);
  fcntl(stage->out, F_SETFL, O_NONBLOCK);
  fcntl(stage->err, F_SETFL, O_NONBLOCK);
  cgroup_mark(stage->shared);
  return stage->init > 0;
}

// Only the program holds them from here on, so that the owner sees when it lets them go.
void close_live(void) {
  for (int fd = LIVE_FIRST; cage.live && fd < LIVE_FIRST + 3; fd++) close(fd);
  cage.live = false;
}

static void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

uint64_t kill_grace_ms(void) {
  return cage.tier == TIER_LANDLOCK ? BARE_KILL_GRACE_MS : KILL_GRACE_MS;
}

// Where the first process died before it had ended the others they have come to us, and nobody else would ever end them.
static void end_group(const struct shared *shared) {
  if (cage.tier != TIER_LANDLOCK || shared->program <= 0 || atomic_load(&shared->reported)) return;
  kill(-shared->program, SIGKILL);
  while (waitpid(-shared->program, NULL, 0) > 0 || errno == EINTR) continue;
}

// Ends whatever is left of a run and waits until it is gone: the next run's limits must not count it.
void stage_close(struct stage *stage) {
  if (stage->init > 0) {
    // Without a pid namespace only init knows whom to end.
    struct pollfd end = {.fd = stage->init_pidfd, .events = POLLIN};
    if (cage.tier == TIER_LANDLOCK && pass(stage->init_socket, 'K', NULL, 0)) poll(&end, 1, (int)kill_grace_ms());
    syscall(SYS_pidfd_send_signal, stage->init_pidfd, SIGKILL, NULL, 0);
    while (waitpid(stage->init, NULL, 0) < 0 && errno == EINTR) continue;
    end_group(stage->shared);
  }
  stage->init = -1;
  int *const fds[] = {&stage->init_pidfd, &stage->init_socket, &stage->program_socket, &stage->in, &stage->out, &stage->err, &stage->box, &stage->tmp, &stage->placed};
  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) shut(fds[i]);
  if (cage.tier != TIER_LANDLOCK) return;
  int parent = open(cage.box_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) return;
  remove_folder(parent, "box");
  remove_folder(parent, "tmp");
  close(parent);
}
