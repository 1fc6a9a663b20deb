// Whether a run has more memory than it may, where no cgroup says so: sizes of its processes, what they keep in buffers, in tables and
// lists of the kernel, and in files that lie in memory.
#include "watch.h"
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MEMORY_DOUBTS 8
#define MEMORY_REST 8 // a close look at memory that took so much of a processor is not taken again for this many times as long, while little grows
#define MAPPINGS_LOOKED_AT 8192 // with more of them a close look would take too long: what is shared or mapped counts more than once

// Its share of the pages that it has in common with others; all of them where that cannot be read. One that has gone has none.
static uint64_t share_of(const struct known *one) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", one->pid);
  errno = 0;
  ssize_t got = read_small(path, text, sizeof text);
  const char *line = got > 0 ? strstr(text, "\nPss:") : NULL;
  if (line != NULL) return strtoull(line + 5, NULL, 10) * 1024u;
  bool gone = got >= 0 || errno == ESRCH || (errno == ENOENT && kill(one->pid, 0) != 0);
  return gone ? 0 : one->resident;
}

bool is_same_memory(uint32_t one) {
  for (uint32_t other = 0; other < one; other++)
    if (syscall(SYS_kcmp, known[one].pid, known[other].pid, KCMP_VM, 0, 0) == 0) return true;
  return false;
}

// The memory of all that were seen at the last look, each page once: a child that has not written yet has its parent's, and one that
// is about to start another program stands in its parent's. Slower than adding up sizes, so only asked for when these are too large.
static uint64_t memory(void) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < known_count; i++)
    if (!is_same_memory(i)) bytes += known_count == 1 || known[i].mappings > MAPPINGS_LOOKED_AT ? known[i].resident : share_of(&known[i]);
  return bytes;
}

// Somebody who ends has given it back before it is gone.
bool has_memory(pid_t pid) {
  char path[64], text[128];
  unsigned long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  return read_small(path, text, sizeof text) > 0 && sscanf(text, "%*u %lu", &pages) == 1 && pages > 0;
}

// Whether everybody who had memory at the last look has some still.
static bool all_there(void) {
  for (uint32_t i = 0; i < known_count; i++)
    if (known[i].resident > 0 && !has_memory(known[i].pid)) return false;
  return true;
}

static bool is_on(const dev_t devices[2], unsigned major_number, unsigned minor_number) {
  dev_t found = makedev(major_number, minor_number);
  return found == devices[0] || found == devices[1];
}

// Its share of the pages of files. What it has written to a mapping of its own is no longer the file's.
static uint64_t of_files(uint64_t share, uint64_t anonymous) { return share > anonymous ? (share - anonymous) * 1024u : 0; }

static uint64_t mapped_by(pid_t pid, const dev_t devices[2], uint32_t *looked_at) {
  char path[64], line[PATH_BYTES + 128];
  snprintf(path, sizeof path, "/proc/%d/smaps", pid);
  FILE *mappings = fopen(path, "re");
  uint64_t bytes = 0;
  unsigned long long share = 0, anonymous;
  bool ours = false, begun = false;
  while (mappings != NULL && *looked_at < MAPPINGS_LOOKED_AT && fgets(line, sizeof line, mappings) != NULL) {
    unsigned major_number, minor_number;
    // A path may be longer than the line has room, and the program has chosen what the rest of it says.
    bool rest = begun;
    begun = strchr(line, '\n') == NULL;
    if (rest) continue;
    if (sscanf(line, "%*x-%*x %*4s %*x %x:%x", &major_number, &minor_number) == 2) {
      ours = is_on(devices, major_number, minor_number);
      share = 0;
      ++*looked_at;
    } else if (sscanf(line, "Pss: %llu", &share) != 1 && ours && sscanf(line, "Anonymous: %llu", &anonymous) == 1) bytes += of_files(share, anonymous);
  }
  if (mappings != NULL) fclose(mappings);
  return bytes;
}

// Of the run's own files, what processes have mapped as well: it is in their sizes already.
static uint64_t mapped_files(int box, int tmp) {
  struct stat found[2];
  uint64_t bytes = 0;
  uint32_t looked_at = 0;
  if (fstat(box, &found[0]) != 0 || fstat(tmp, &found[1]) != 0) return 0;
  const dev_t devices[2] = {found[0].st_dev, found[1].st_dev};
  for (uint32_t i = 0; i < known_count; i++)
    if (!is_same_memory(i)) bytes += mapped_by(known[i].pid, devices, &looked_at);
  return bytes;
}

// By how much all of them together may have grown since the last close look. Whoever writes to what it had in common with others is
// no larger for it, but is given pages. Whoever has shrunk may grow again as anybody may.
static uint64_t grown(void) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < known_count; i++) {
    struct known *one = &known[i];
    if (one->looked_resident > one->resident) one->looked_resident = one->resident;
    uint64_t larger = one->resident - one->looked_resident, given = one->faulted - one->looked_faulted;
    bytes += larger > given ? larger : given;
  }
  return bytes;
}

static void remember(void) {
  for (uint32_t i = 0; i < known_count; i++) {
    known[i].looked_resident = known[i].resident;
    known[i].looked_faulted = known[i].faulted;
  }
}

// Sizes added up count what processes have in common several times over: only a close look tells. Their shares are read one after the
// other, and what is shared with one that ends meanwhile is counted again with those who stay. So a sum is believed when all of them
// were still there after it, or when it has been too large so often that no accident explains it.
bool watch_too_large(const struct usage *used, const struct held_files *files, uint64_t limit) {
  static uint32_t doubts;
  static uint64_t next_memory_ns, looked_beside, left;
  uint64_t beside = watch_mappings() + files->bytes;
  if (beside > limit) return true;
  uint64_t more = grown() + (beside > looked_beside ? beside - looked_beside : 0);
  if (now_ns() < next_memory_ns && more <= left) return false;
  uint64_t before_us = own_cpu_us(), told = beside;
  beside += watch_buffers(used->cpu_us);
  if (used->resident + beside <= limit) return false;
  uint64_t bytes = memory() + beside;
  if (bytes > limit && bytes - files->bytes <= limit) {
    uint64_t twice = mapped_files(files->box, files->tmp);
    bytes -= twice < files->bytes ? twice : files->bytes;
  }
  bool whole = bytes <= limit || all_there();
  remember();
  looked_beside = told;
  left = bytes < limit ? limit - bytes : 0;
  next_memory_ns = now_ns() + MEMORY_REST * (own_cpu_us() - before_us) * 1000u;
  doubts = bytes > limit ? doubts + 1 : 0;
  return bytes > limit && (whole || doubts >= MEMORY_DOUBTS);
}
