// Two boxes joined: each helper opens its ends of two named pipes, which then lose their names.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum step { STEP_MAKE = 0, STEP_OPEN = 1, STEP_SETTLE = 2, STEP_DROP = 3 };

static int holders[2] = {-1, -1};

static void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static bool open_ends(const char *in, const char *out) {
  cage.join_in = open(in, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  cage.join_out = open(out, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  return cage.join_in >= 0 && cage.join_out >= 0;
}

// The program owns the pipe that it reads, and reads as from any pipe: it waits.
static bool hand_over(void) {
  if (cage.slot_lock >= 0 && fchown(cage.join_in, cage.uid, cage.gid) != 0) return false;
  return fcntl(cage.join_in, F_SETFL, 0) == 0;
}

static bool make_pipes(const char *in, const char *out) {
  if (mkfifo(in, 0600) != 0 || mkfifo(out, 0600) != 0) return false;
  holders[0] = open(in, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  holders[1] = open(out, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  return holders[0] >= 0 && holders[1] >= 0;
}

static void let_pipes_go(const char *in, const char *out) {
  shut(&holders[0]);
  shut(&holders[1]);
  unlink(in);
  unlink(out);
}

// The maker holds both pipes open for reading and writing, so that neither side has to wait for the other to open its end. It has its own
// ends before the other side hands a pipe to its program: in a user namespace nobody opens what belongs to the user of another one.
static bool take_step(enum step step, const char *in, const char *out) {
  switch (step) {
  case STEP_MAKE:
    return make_pipes(in, out) && open_ends(in, out);
  case STEP_OPEN:
    return open_ends(in, out) && hand_over();
  case STEP_SETTLE:
    let_pipes_go(in, out);
    return hand_over();
  case STEP_DROP:
    shut(&cage.join_in);
    shut(&cage.join_out);
    let_pipes_go(in, out);
    return true;
  }
  return false;
}

void join_order(struct cursor *order) {
  uint32_t step = take_u32(order);
  char *in = take_string(order), *out = take_string(order);
  bool done = !order->bad && take_step(step, in, out);
  free(in);
  free(out);
  if (!done) {
    write_failed("the two boxes cannot be joined");
    return;
  }
  uint8_t head[5];
  struct iovec part = {head, 5};
  write_frame(FRAME_JOINED, &part, 1);
}
