// When a run is over by the clock. The clock finds programs that are idle; one that could have run and was given no processor is not,
// so its end is moved by what it was starved, within a bound. Nothing is asked before the first end has come.
#include "cage.h"

#define LOOK_AGAIN_MS 200 // a task that ends takes along what it waited since the last look

static uint64_t began_ns(const struct shared *shared) { return shared->start_ns != 0 ? shared->start_ns : shared->go_ns; }

// The clock has struck: true if that is the end, false if the deadline was moved or init was asked whether it is to be.
bool clock_is_over(struct run *run) {
  struct shared *shared = run->stage->shared;
  const struct limits *limits = &shared->limits;
  // Its time began when it did, not when we let it go.
  uint64_t whole_ns = shared->start_ns + limits->wall_us * 1000u;
  if (!run->asked && run->deadline_ns < whole_ns) {
    run->deadline_ns = whole_ns;
    return false;
  }
  if (run->asked || limits->starved_wall_us <= limits->wall_us || !pass(run->stage->init_socket, 'W', NULL, 0)) return true;
  run->asked = true;
  run->deadline_ns = now_ns() + ANSWER_GRACE_MS * 1000000ull;
  return false;
}

// Init has said how long the program was starved. True: it has had its time all the same, or has been moved as far as it may.
bool clock_answered(struct run *run) {
  const struct shared *shared = run->stage->shared;
  const struct limits *limits = &shared->limits;
  run->asked = false;
  if (run->told) return false;
  uint64_t allowed_us = limits->wall_us + shared->starved_us;
  if (shared->waits_still || allowed_us > limits->starved_wall_us) allowed_us = limits->starved_wall_us;
  uint64_t until_ns = began_ns(shared) + allowed_us * 1000u;
  uint64_t now = now_ns(), look_ns = now + LOOK_AGAIN_MS * 1000000ull;
  if (until_ns <= now) return true;
  run->deadline_ns = until_ns < look_ns ? until_ns : look_ns;
  return false;
}
