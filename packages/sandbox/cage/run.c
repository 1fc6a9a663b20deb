// One order from the owner: put everything in place, let the program go, carry its bytes, say how it ended.
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
#include <sys/uio.h>
#include <unistd.h>

enum input { INPUT_EMPTY = 0, INPUT_BYTES = 1, INPUT_FILE = 2, INPUT_JOINED = 3, INPUT_JOINED_STEADY = 4 };

bool pass(int socket, char message, const int *fds, int count) {
  char room[CMSG_SPACE(sizeof(int) * MAX_BINDS)];
  struct iovec part = {&message, 1};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
  if (count > 0) {
    head.msg_control = room;
    head.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
    memcpy(CMSG_DATA(rights), fds, sizeof(int) * (size_t)count);
  }
  return sendmsg(socket, &head, MSG_NOSIGNAL) == 1;
}

static bool take_strings(struct shared *shared, struct cursor *order, uint32_t *count) {
  *count = take_u32(order);
  if (*count > MAX_ARGS) return false;
  for (uint32_t i = 0; i < *count; i++) {
    uint32_t length;
    const uint8_t *bytes = take_bytes(order, &length);
    if (order->bad || memchr(bytes, 0, length) != NULL || shared->strings_used + length + 1 > ORDER_BYTES) return false;
    memcpy(shared->strings + shared->strings_used, bytes, length);
    shared->strings_used += length;
    shared->strings[shared->strings_used++] = 0;
  }
  return true;
}

static bool take_readable(struct run *run, struct cursor *order, struct placed *placed) {
  uint32_t count = take_u32(order);
  for (uint32_t i = 0; i < count && !order->bad; i++) {
    char *path = take_string(order);
    bool done = add_bind(run->stage, placed, path);
    if (!done) snprintf(run->message, sizeof run->message, "%s cannot be made readable: %s", path, strerror(errno));
    free(path);
    if (!done) return false;
  }
  return !order->bad;
}

// Through the pipe, never the file itself: its path would show in /proc/self/fd.
static bool open_input(const char *path, struct feed *feed) {
  struct stat found;
  feed->source = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (feed->source < 0) return false;
  if (fstat(feed->source, &found) == 0 && S_ISREG(found.st_mode)) return true;
  close(feed->source);
  feed->source = -1;
  errno = EINVAL;
  return false;
}

static bool take_input(struct run *run, struct cursor *order) {
  uint32_t kind = take_u32(order), length;
  const uint8_t *bytes = take_bytes(order, &length);
  run->input = -1;
  if (kind == INPUT_BYTES) {
    run->feed.at = bytes;
    run->feed.left = length;
  } else if (kind == INPUT_JOINED || kind == INPUT_JOINED_STEADY) {
    run->out.steady = kind == INPUT_JOINED_STEADY;
    run->input = cage.join_in;
    cage.join_in = -1;
  } else if (kind == INPUT_FILE) {
    char *path = strndup((const char *)bytes, length);
    bool opened = path != NULL && open_input(path, &run->feed);
    if (!opened) snprintf(run->message, sizeof run->message, "standard input %s: %s", path, strerror(errno));
    free(path);
    return opened;
  }
  return true;
}

static bool wait_for_binds(struct run *run, struct placed *placed) {
  if (run->stage->shared->bind_count == 0 || cage.tier == TIER_LANDLOCK) return true;
  char answer = 0;
  return pass(run->stage->init_socket, 'B', placed->mounts, placed->count) && recv(run->stage->init_socket, &answer, 1, 0) == 1 && answer == 'b';
}

static void end_with(struct run *run, enum why why) {
  uint32_t none = WHY_NONE;
  atomic_compare_exchange_strong(&run->stage->shared->why, &none, why);
  if (run->told) return;
  run->told = true;
  run->deadline_ns = now_ns() + kill_grace_ms() * 1000000ull;
  pass(run->stage->init_socket, 'K', NULL, 0);
}

static void hear_owner(struct run *run) {
  uint8_t type;
  uint32_t length;
  uint8_t *frame = read_frame(&type, &length);
  if (frame == NULL) {
    stage_close(run->stage);
    leave_ground();
    _exit(0);
  }
  free_frame(frame, length);
  if (type == FRAME_KILL) end_with(run, WHY_ABORT);
}

static void hear_init(struct run *run) {
  char message = 0;
  ssize_t got = recv(run->stage->init_socket, &message, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got == 1 && message == 'w') {
    if (clock_answered(run)) end_with(run, WHY_WALL);
    return;
  }
  run->over = true;
  // The word is in the memory we share: a socket that closes with something unread tells the other side of that first.
  if (!atomic_load(&run->stage->shared->reported)) {
    errno = EPIPE;
    fail_stage(run->stage->shared, "the run's first process");
  }
}

enum { OWNER, INIT, OUT, ERR, IN, FORWARD, PIDS, POLLED };

static void carry(struct run *run) {
  struct shared *shared = run->stage->shared;
  while (!run->over) {
    uint64_t parting_ns = part(&run->out, false);
    bool blocked = run->out.forward >= 0 && (run->out.held > 0 || run->out.broken);
    struct pollfd from[POLLED] = {
      [OWNER] = {.fd = 0, .events = POLLIN},
      [INIT] = {.fd = run->stage->init_socket, .events = POLLIN},
      [OUT] = {.fd = blocked || run->out.stopped ? -1 : run->out.fd, .events = POLLIN},
      [ERR] = {.fd = run->err.stopped ? -1 : run->err.fd, .events = POLLIN},
      [IN] = {.fd = run->feed.fd, .events = POLLOUT},
      [FORWARD] = {.fd = run->out.broken ? -1 : run->out.forward, .events = blocked ? POLLOUT : 0},
      [PIDS] = {.fd = run->told ? -1 : cage.pids_fd, .events = POLLPRI},
    };
    uint64_t now = now_ns();
    uint64_t until = parting_ns != 0 && parting_ns < run->deadline_ns ? parting_ns : run->deadline_ns;
    int wait_ms = now >= until ? 0 : (int)((until - now) / 1000000 + 1);
    int ready = poll(from, POLLED, wait_ms);
    if (from[INIT].revents != 0) hear_init(run);
    if (from[FORWARD].revents & POLLERR) run->out.broken = true;
    if (from[OUT].revents != 0 || from[FORWARD].revents != 0)
      if (!pump_out(&run->out, shared->limits.output)) end_with(run, WHY_OUTPUT);
    if (from[ERR].revents != 0 && !pump_out(&run->err, shared->limits.output)) end_with(run, WHY_OUTPUT);
    if (from[IN].revents != 0) pump_in(&run->feed);
    if (from[PIDS].revents != 0 && cgroup_refusals() > shared->refusal_mark) end_with(run, WHY_PROCESSES);
    if (from[OWNER].revents != 0) hear_owner(run);
    if (run->over || ready > 0) continue;
    if (now_ns() < run->deadline_ns || (!run->told && !clock_is_over(run))) continue;
    if (run->told) { // init itself does not answer
      syscall(SYS_pidfd_send_signal, run->stage->init_pidfd, SIGKILL, NULL, 0);
      run->deadline_ns = now_ns() + KILL_GRACE_MS * 1000000ull;
    }
    end_with(run, WHY_WALL);
  }
}

// All writers are dead: what they left in the pipes is there already.
static void drain(struct run *run) {
  struct stream *const streams[] = {&run->out, &run->err};
  uint64_t limit = run->stage->shared->limits.output;
  for (int i = 0; i < 2; i++) {
    for (;;) {
      uint64_t before = streams[i]->total + streams[i]->sent;
      if (!pump_out(streams[i], limit)) end_with(run, WHY_OUTPUT);
      if (streams[i]->total + streams[i]->sent != before && !streams[i]->stopped) continue;
      part(streams[i], true);
      if (streams[i]->forward < 0 || run->told) break;
      // The other box reads slowly: it has until this run's time would be over.
      uint64_t now = now_ns();
      struct pollfd both[2] = {{.fd = streams[i]->forward, .events = POLLOUT}, {.fd = 0, .events = POLLIN}};
      if (now >= run->deadline_ns || poll(both, 2, (int)((run->deadline_ns - now) / 1000000 + 1)) <= 0) break;
      if (both[1].revents != 0) hear_owner(run);
    }
    if (streams[i]->forward >= 0) close(streams[i]->forward);
  }
}

static bool fill_box(struct run *run, struct cursor *order, struct placed *placed) {
  struct shared *shared = run->stage->shared;
  if (!place_files(run->stage, order, run->message, sizeof run->message)) return false;
  if (run->stage->placed >= 0) placed->mounts[placed->count++] = run->stage->placed;
  run->stage->placed = -1;
  if (cage.cgroup == 0) shared->files_mark = memory_of_files(run->stage->box) + memory_of_files(run->stage->tmp);
  if (!take_readable(run, order, placed)) return false;
  if (take_strings(shared, order, &shared->argc) && take_strings(shared, order, &shared->envc) && shared->argc > 0) return true;
  snprintf(run->message, sizeof run->message, "arguments and environment are too long");
  return false;
}

static bool get_ready(struct run *run, struct cursor *order) {
  struct stage *stage = run->stage;
  struct shared *shared = stage->shared;
  struct limits *limits = &shared->limits;
  struct placed placed = {.count = 0};
  limits->cpu_us = take_u64(order);
  limits->wall_us = take_u64(order);
  limits->starved_wall_us = take_u64(order);
  limits->memory = take_u64(order);
  limits->output = take_u64(order);
  limits->box = take_u64(order);
  limits->processes = take_u32(order);
  limits->files = take_u32(order);
  run->out.capture = take_u64(order);
  run->err.capture = take_u64(order);
  if (take_u32(order) != 0) run->out.told_as = 1, run->err.told_as = 2;
  if (stage->init <= 0) return false;
  if (cage.tier != TIER_LANDLOCK && stage->box_bytes != limits->box) {
    if (resize_tmpfs(stage->box, limits->box) != 0 || resize_tmpfs(stage->tmp, limits->box) != 0) {
      snprintf(run->message, sizeof run->message, "the box cannot have %llu bytes: %s", (unsigned long long)limits->box, strerror(errno));
      return false;
    }
    stage->box_bytes = limits->box;
  }
  bool ready = fill_box(run, order, &placed) && take_input(run, order) && wait_for_binds(run, &placed);
  cgroup_limit(limits);
  for (int i = 0; i < placed.count; i++) close(placed.mounts[i]);
  return ready;
}

static void go(struct run *run) {
  struct stage *stage = run->stage;
  run->out.fd = stage->out;
  run->err.fd = stage->err;
  run->feed.fd = stage->in;
  stage->in = stage->out = stage->err = -1;
  run->out.forward = cage.join_out;
  cage.join_out = -1;
  run->joined = stage->shared->joined = run->out.forward >= 0;
  if (run->joined) run->out.capture = UINT64_MAX;
  close_live();
  pump_in(&run->feed);
  stage->shared->go_ns = now_ns();
  run->deadline_ns = stage->shared->go_ns + stage->shared->limits.wall_us * 1000u;
  bool sent = pass(stage->program_socket, 'G', &run->input, run->input >= 0 ? 1 : 0);
  pass(stage->init_socket, 'G', NULL, 0); // it may have come and gone by now
  if (run->input >= 0) close(run->input);
  if (!sent) {
    errno = EPIPE;
    fail_stage(stage->shared, "the run's first process");
    run->over = true;
  }
  carry(run);
  drain(run);
}

void run_order(struct stage *stage, struct cursor *order) {
  struct run run = {.stage = stage, .out = {.fd = -1, .forward = -1}, .err = {.fd = -1, .forward = -1}, .feed = {.fd = -1, .source = -1}, .input = -1};
  bool ready = get_ready(&run, order) && !order->bad;
  if (ready) go(&run);
  uint32_t why = settle(&run);
  if (!ready && why == WHY_NONE) why = WHY_SANDBOX;
  if (order->bad) snprintf(run.message, sizeof run.message, "the order is malformed");
  uint8_t kept[MAX_KEPT] = {0};
  uint32_t kept_count = order->bad ? 0 : take_u32(order);
  if (kept_count > MAX_KEPT) kept_count = 0;
  for (uint32_t i = 0; i < kept_count && !order->bad; i++) {
    char *name = take_string(order), *to = take_string(order);
    uint64_t limit = take_u64(order);
    if (!order->bad && why != WHY_SANDBOX) kept[i] = keep_file(stage, name, to, limit, run.message, sizeof run.message);
    free(name);
    free(to);
  }
  answer(&run, why, kept, kept_count);
  int *const rest[] = {&run.out.fd, &run.err.fd, &run.feed.fd, &run.feed.source, &cage.join_in, &cage.join_out};
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
    if (*rest[i] >= 0) close(*rest[i]);
  cage.join_in = cage.join_out = -1;
  if (run.out.room > 0) munmap(run.out.bytes, run.out.room);
  if (run.err.room > 0) munmap(run.err.bytes, run.err.room);
}
