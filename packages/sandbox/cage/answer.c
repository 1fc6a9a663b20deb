// How a run ended, and the frame that says so.
#include "cage.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#define WORDS 4
#define FIGURES 7
#define LENGTHS 4
#define HEAD_BYTES (5 + WORDS * 4 + FIGURES * 8 + LENGTHS * 4 + MAX_KEPT)
#define HIDDEN_CPU_US 10000 // what a cgroup may count beyond the dead's own accounts before we believe it instead

// The first limit that was passed names the end; what only the accounts show comes after what was seen happening.
uint32_t settle(struct run *run) {
  struct shared *shared = run->stage->shared;
  const struct limits *limits = &shared->limits;
  int failed = atomic_load(&shared->failed_errno);
  if (failed == ENOMEM) return WHY_MEMORY;
  if (failed != 0) {
    snprintf(run->message, sizeof run->message, strcmp(shared->failed_at, "exec") == 0 ? "the program cannot be started%.0s: %s" : "%s: %s", shared->failed_at, strerror(failed));
    return WHY_SANDBOX;
  }
  if (cage.cgroup != 0) {
    uint64_t all = cgroup_cpu_us() - shared->cpu_mark_us, ours = shared->prelude_us;
    if (all > ours + shared->cpu_us + HIDDEN_CPU_US) shared->cpu_us = all - ours;
  }
  uint32_t why = atomic_load(&shared->why);
  if (why != WHY_NONE) return why;
  if (cage.cgroup != 0 && cgroup_oom_kills() > shared->oom_mark) return WHY_MEMORY;
  if (cage.cgroup != 0 && cgroup_refusals() > shared->refusal_mark) return WHY_PROCESSES;
  if (shared->cpu_us > limits->cpu_us) return WHY_CPU;
  if (shared->maxrss_bytes > limits->memory) return WHY_MEMORY;
  return WHY_NONE;
}

void answer(struct run *run, uint32_t why, const uint8_t *kept, uint32_t kept_count) {
  struct shared *shared = run->stage->shared;
  uint8_t head[HEAD_BYTES], *at = head + 5;
  uint64_t end = shared->end_ns != 0 ? shared->end_ns : now_ns();
  uint64_t wall = shared->start_ns != 0 && end > shared->start_ns ? (end - shared->start_ns) / 1000 : 0;
  uint64_t memory = shared->maxrss_bytes;
  // Whoever passes the limit gets a little more before it is ended; how much is chance, and says nothing about the program.
  if (why == WHY_MEMORY || memory > shared->limits.memory) memory = shared->limits.memory;
  uint32_t message_length = (uint32_t)strlen(run->message);
  const uint32_t words[WORDS] = {why, (uint32_t)shared->wait_status, shared->start_ns != 0, shared->starved_known};
  const uint64_t figures[FIGURES] = {shared->cpu_us, wall, shared->starved_us, memory, end, run->out.total, run->err.total};
  const uint32_t lengths[LENGTHS] = {(uint32_t)(run->joined ? 0 : run->out.held), (uint32_t)run->err.held, kept_count, message_length};
  for (size_t i = 0; i < WORDS; i++, at += 4) put_u32(at, words[i]);
  for (size_t i = 0; i < FIGURES; i++, at += 8) put_u64(at, figures[i]);
  for (size_t i = 0; i < LENGTHS; i++, at += 4) put_u32(at, lengths[i]);
  memcpy(at, kept, kept_count);
  at += kept_count;
  struct iovec parts[] = {{head, (size_t)(at - head)}, {run->out.bytes, lengths[0]}, {run->err.bytes, lengths[1]}, {run->message, message_length}};
  write_frame(FRAME_DONE, parts, 4);
}
