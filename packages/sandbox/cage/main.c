// The helper's life: one opening frame, then orders until its owner is gone.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct cage cage = {.join_in = -1, .join_out = -1, .slot_lock = -1, .cpu_fd = -1, .oom_fd = -1, .pids_fd = -1};

static void open_cage(void) {
  uint8_t type;
  uint32_t length;
  uint8_t *frame = read_frame(&type, &length);
  if (frame == NULL || type != FRAME_OPEN) _exit(2);
  struct cursor from = {frame, frame + length, false};
  enum tier tier = take_u32(&from);
  cage.profile = take_u32(&from);
  cage.run_folder = take_string(&from);
  cage.folder = take_string(&from);
  cage.folder_writable = take_u32(&from) != 0;
  cage.host_network = take_u32(&from) != 0;
  take_list(&from, &cage.readable);
  take_list(&from, &cage.hidden);
  take_list(&from, &cage.writable);
  take_list(&from, &cage.links);
  take_list(&from, &cage.placeholders);
  cage.proxy_socket = take_string(&from);
  cage.proxy_port = (uint16_t)take_u32(&from);
  cage.local_sockets = take_u32(&from) != 0;
  cage.live = take_u32(&from) != 0;
  if (from.bad) {
    write_failed("the opening frame is malformed");
    _exit(2);
  }
  free_frame(frame, length);
  // Whoever started our owner may have left something open in it, and so in us and in the first process of every run.
  if (syscall(SYS_close_range, cage.live ? LIVE_FIRST + 3u : LIVE_FIRST + 0u, ~0u, 0u) != 0) give_up("descriptors");
  for (int fd = LIVE_FIRST; cage.live && fd < LIVE_FIRST + 3; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
  cpu_set_t cpus;
  cage.cpu_count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  stand_on_ground(tier);
  if (tier != TIER_LANDLOCK) skeleton_open();
}

// Where the group is there and cannot be joined, the box does without.
static void start_inside(void) {
  if (cage.cgroup == 0) return;
  if (starter_open()) oom_last();
  else {
    cgroup_close();
    own_cgroup_view();
  }
}

static void say_ready(void) {
  uint8_t head[5 + 3 * 4];
  const uint32_t words[] = {(uint32_t)cage.cgroup, (uint32_t)(cage.landlock_abi > 0 ? cage.landlock_abi : 0), cage.pids_fd >= 0};
  for (size_t i = 0; i < 3; i++) put_u32(head + 5 + 4 * i, words[i]);
  const char *folder = cage.box_folder == NULL ? "" : cage.box_folder;
  struct iovec parts[2] = {{head, sizeof head}, {(void *)folder, strlen(folder)}};
  write_frame(FRAME_READY, parts, 2);
}

int main(int argc, char **argv) {
  if (argc >= 3 && strcmp(argv[1], "probe") == 0) probe_main(argc - 2, argv + 2);
  if (argc == 4 && strcmp(argv[1], "sweep") == 0) sweep_main(argv[2], argv[3]);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN); // a person's Ctrl-C is for the owner, which then ends us
  umask(0022);
  open_cage();
  prctl(PR_SET_DUMPABLE, 0);
  struct stage stage = {.shared = new_shared()};
  start_inside();
  filter_build();
  stage_open(&stage);
  say_ready();
  for (;;) {
    uint8_t type;
    uint32_t length;
    uint8_t *frame = read_frame(&type, &length);
    if (frame == NULL) break;
    struct cursor order = {frame, frame + length, false};
    if (type == FRAME_JOIN) join_order(&order);
    if (type == FRAME_RUN) run_order(&stage, &order);
    free_frame(frame, length);
    if (type != FRAME_RUN) continue;
    stage_close(&stage);
    stage_open(&stage);
  }
  stage_close(&stage);
  leave_ground();
  return 0;
}
