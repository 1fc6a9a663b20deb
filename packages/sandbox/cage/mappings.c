// What the kernel keeps for the mappings of a run's processes. A mapping that nobody touches has no page and no table, and yet takes some
// hundred bytes. A cgroup counts them; elsewhere nobody tells their number, so they are counted as lines of /proc/PID/maps. Programs that
// mean no harm have a few hundred. Those of one that has a million are read a part at each look, so that the rest is watched meanwhile.
#include "watch.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FREE_MAPPINGS 4096      // of all processes together
#define SMALLEST_MAPPING 4096u  // so a process has no more of them than this goes into its size
#define MAPPING_BYTES 320u      // with what leads to its pages, measured
#define ANCESTOR_BYTES 64u      // and for each process that these pages may come from
#define LINES_A_LOOK 8192
#define ROUND_NS 50000000ull    // begun again no sooner
#define UNREADABLE_MAPPINGS 65530u // the kernel's own bound, for who does not let itself be looked at

static int reading = -1;
static pid_t reading_of;
static unsigned long long reading_born;
static uint32_t lines, round_number = 1;
static uint64_t next_round_ns;

static struct known *being_read(void) {
  for (uint32_t i = 0; i < known_count; i++)
    if (known[i].pid == reading_of && known[i].born == reading_born) return &known[i];
  return NULL;
}

static void end_reading(struct known *one) {
  if (reading >= 0) close(reading);
  reading = -1;
  if (one == NULL) return;
  one->mappings = lines;
  one->counted_in = round_number;
}

// False: the round is over.
static bool begin_reading(void) {
  for (uint32_t i = 0; i < known_count; i++) {
    struct known *one = &known[i];
    char path[64];
    if (one->counted_in == round_number) continue;
    snprintf(path, sizeof path, "/proc/%d/maps", one->pid);
    reading = open(path, O_RDONLY | O_CLOEXEC);
    reading_of = one->pid;
    reading_born = one->born;
    lines = 0;
    if (reading >= 0) return true;
    uint64_t most = has_memory(one->pid) ? one->size / SMALLEST_MAPPING : 0;
    lines = most < UNREADABLE_MAPPINGS ? (uint32_t)most : UNREADABLE_MAPPINGS;
    end_reading(one);
  }
  return false;
}

static void count_some(void) {
  char text[8192];
  uint32_t budget = LINES_A_LOOK;
  while (budget > 0 && (reading >= 0 || begin_reading())) {
    struct known *one = being_read();
    ssize_t got = one == NULL ? 0 : read(reading, text, sizeof text);
    uint32_t more = 0;
    for (const char *at = text; got > 0 && (at = memchr(at, '\n', (size_t)(text + got - at))) != NULL; at++) more++;
    lines += more;
    budget -= more < budget ? more : budget;
    if (one != NULL && lines > one->mappings) one->mappings = lines;
    if (got <= 0) end_reading(one);
  }
  if (budget == 0 || now_ns() < next_round_ns) return;
  round_number++;
  next_round_ns = now_ns() + ROUND_NS;
}

// Of all that were seen at the last look, as they were last counted.
uint64_t watch_mappings(void) {
  uint64_t most = 0, all = 0;
  for (uint32_t i = 0; i < known_count; i++) most += known[i].size / SMALLEST_MAPPING;
  if (most <= FREE_MAPPINGS) return 0;
  count_some();
  for (uint32_t i = 0; i < known_count; i++) all += known[i].mappings;
  if (all <= FREE_MAPPINGS) return 0;
  all = 0;
  for (uint32_t i = 0; i < known_count; i++)
    if (!is_same_memory(i)) all += known[i].mappings;
  return all <= FREE_MAPPINGS ? 0 : (all - FREE_MAPPINGS) * (MAPPING_BYTES + ANCESTOR_BYTES * (uint64_t)known_count);
}
