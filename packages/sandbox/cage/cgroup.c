// Memory, processes and time of everything in the box, where a cgroup hierarchy is ours to write. In the leaf are a run's processes and
// the starter that they are born from, nobody else.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GROUP "parley"
#define OWN_TASKS 2 // the starter and a run's init are in the leaf too
#define MEMORY_SLACK (4ull << 20) // what is in the leaf and not the program's: these two, pipes, page tables. Nothing that it can give back
#define UNLIMITED UINT64_MAX
#define LEAF_TRIES 16
#define RELEASE_MOMENTS 30000 // of a millisecond: the kernel frees them when it comes to it, on a busy machine seconds later

enum { MEMORY, PIDS, CPU, CONTROLLERS };
static const char *const NAMES[CONTROLLERS] = {"memory", "pids", "cpuacct"};
static char leaves[CONTROLLERS][256]; // the same folder three times under cgroup 2

static bool put(const char *folder, const char *file, const char *text) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return done;
}

static bool put_number(const char *folder, const char *file, uint64_t value, const char *unlimited) {
  char text[32];
  if (value == UNLIMITED) return put(folder, file, unlimited);
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return put(folder, file, text);
}

static int get(const char *folder, const char *file) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return open(path, O_RDONLY | O_CLOEXEC);
}

// Where each controller is mounted, as /proc/mounts has it.
static void find_mounts(char where[CONTROLLERS][256], char *unified) {
  FILE *mounts = fopen("/proc/mounts", "re");
  char line[1024];
  while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
    char at[256], type[64], options[512];
    if (sscanf(line, "%*s %255s %63s %511s", at, type, options) != 3) continue;
    if (strcmp(type, "cgroup2") == 0) snprintf(unified, 256, "%s", at);
    if (strcmp(type, "cgroup") != 0) continue;
    char *rest = options;
    for (char *option; (option = strsep(&rest, ",")) != NULL;)
      for (int i = 0; i < CONTROLLERS; i++)
        if (strcmp(option, NAMES[i]) == 0) snprintf(where[i], 256, "%s", at);
  }
  if (mounts != NULL) fclose(mounts);
}

// Leaves of boxes whose helper was killed: nobody holds their lock any more, and nothing runs in them.
static void sweep(const char *parent) {
  DIR *entries = opendir(parent);
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    int slot;
    if (sscanf(entry->d_name, "box-%d", &slot) != 1 || slot == cage.slot) continue;
    int lock = lock_slot(slot);
    if (lock < 0) continue;
    unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
    unlock_slot(slot, lock);
  }
  if (entries != NULL) closedir(entries);
}

static bool make_leaf(const char *mount, char *leaf) {
  char parent[240];
  snprintf(parent, sizeof parent, "%s/" GROUP, mount);
  snprintf(leaf, 256, "%s/box-%d", parent, cage.slot);
  // Another box that closes may take the folder above away between two of these lines.
  for (int tries = 0; tries < LEAF_TRIES; tries++) {
    if (mkdir(parent, 0755) != 0 && errno != EEXIST) break;
    if (cage.cgroup == 2) put(parent, "cgroup.subtree_control", "+memory +pids");
    if (tries == 0) sweep(parent);
    rmdir(leaf); // one of ours that was killed may have left it, with its limits
    if (mkdir(leaf, 0755) == 0 || errno == EEXIST) return true;
  }
  leaf[0] = 0;
  return false;
}

static bool open_unified(const char *mount) {
  cage.cgroup = 2;
  put(mount, "cgroup.subtree_control", "+memory +pids");
  if (!make_leaf(mount, leaves[MEMORY])) return false;
  for (int i = 1; i < CONTROLLERS; i++) strcpy(leaves[i], leaves[MEMORY]);
  cage.cpu_fd = get(leaves[CPU], "cpu.stat");
  cage.oom_fd = get(leaves[MEMORY], "memory.events");
  cage.pids_fd = get(leaves[PIDS], "pids.events");
  put(leaves[MEMORY], "memory.oom.group", "0");
  return cage.oom_fd >= 0 && cage.pids_fd >= 0 && put(leaves[MEMORY], "memory.max", "max");
}

static bool open_legacy(char where[CONTROLLERS][256]) {
  cage.cgroup = 1;
  for (int i = 0; i < CONTROLLERS; i++)
    if (where[i][0] == 0 || !make_leaf(where[i], leaves[i])) return false;
  cage.cpu_fd = get(leaves[CPU], "cpuacct.usage");
  cage.oom_fd = get(leaves[MEMORY], "memory.oom_control");
  cage.pids_fd = get(leaves[PIDS], "pids.events");
  return cage.cpu_fd >= 0 && cage.oom_fd >= 0;
}

// Of a box that is gone: true if nothing of it is left. One that has just ended may take a moment to be no longer counted.
bool cgroup_remove(int slot) {
  char where[CONTROLLERS][256] = {{0}}, unified[256] = {0}, leaf[PATH_BYTES];
  find_mounts(where, unified);
  bool gone = true;
  for (int i = 0; i <= CONTROLLERS; i++) {
    const char *mount = i < CONTROLLERS ? where[i] : unified;
    if (mount[0] == 0) continue;
    snprintf(leaf, sizeof leaf, "%s/" GROUP "/box-%d", mount, slot);
    if (rmdir(leaf) != 0 && errno != ENOENT) gone = false;
    *strrchr(leaf, '/') = 0;
    rmdir(leaf); // refused while another box is there
  }
  return gone;
}

void cgroup_open(void) {
  char where[CONTROLLERS][256] = {{0}}, unified[256] = {0};
  cage.cpu_fd = cage.oom_fd = cage.pids_fd = -1;
  find_mounts(where, unified);
  bool held = where[MEMORY][0] != 0 ? open_legacy(where) : unified[0] != 0 && open_unified(unified);
  if (!held) cgroup_close();
  cage.memory_set = UNLIMITED;
}

bool cgroup_join(void) {
  char self[16];
  snprintf(self, sizeof self, "%d", getpid());
  for (int i = 0; i < (cage.cgroup == 2 ? 1 : CONTROLLERS); i++)
    if (!put(leaves[i], "cgroup.procs", self)) return false;
  return true;
}

// The kernel must take the program, never us.
void oom_last(void) { put("/proc/self", "oom_score_adj", "-1000"); }

static uint64_t field(int fd, const char *name) {
  char text[1024];
  ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
  if (got <= 0) return 0;
  text[got] = 0;
  if (name == NULL) return strtoull(text, NULL, 10);
  size_t length = strlen(name);
  for (char *line = text; line != NULL; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, name, length) == 0 && line[length] == ' ') return strtoull(line + length, NULL, 10);
  }
  return 0;
}

static void set_memory(uint64_t bytes) {
  if (cage.cgroup == 0 || cage.memory_set == bytes) return;
  bool wider = bytes > cage.memory_set;
  const char *folder = leaves[MEMORY];
  if (cage.cgroup == 2) {
    put_number(folder, "memory.max", bytes, "max");
    put_number(folder, "memory.swap.max", bytes == UNLIMITED ? UNLIMITED : 0, "max");
  } else {
    // Memory with swap may never be below memory alone, at any moment.
    if (wider) put_number(folder, "memory.memsw.limit_in_bytes", bytes, "-1");
    put_number(folder, "memory.limit_in_bytes", bytes, "-1");
    if (!wider) put_number(folder, "memory.memsw.limit_in_bytes", bytes, "-1");
  }
  cage.memory_set = bytes;
}

static uint64_t read_once(const char *name, const char *line) {
  int fd = get(leaves[MEMORY], name);
  uint64_t value = field(fd, line);
  if (fd >= 0) close(fd);
  return value;
}

// Shared segments of the program before are freed a moment after its namespace, and count in the group until then: the next
// program would end for memory that it never had.
static void await_release(void) {
  const struct timespec moment = {.tv_nsec = 1000000};
  const char *usage = cage.cgroup == 2 ? "memory.current" : "memory.usage_in_bytes";
  for (int i = 0; i < RELEASE_MOMENTS; i++) {
    if (read_once(usage, NULL) <= MEMORY_SLACK || read_once("memory.stat", "shmem") <= MEMORY_SLACK) return;
    nanosleep(&moment, NULL);
  }
}

void cgroup_limit(const struct limits *limits) {
  if (cage.cgroup == 0) return;
  await_release();
  set_memory(limits->memory + limits->memory / 64 + MEMORY_SLACK);
  if (cage.pids_set == limits->processes) return;
  put_number(leaves[PIDS], "pids.max", (uint64_t)limits->processes + OWN_TASKS, "max");
  cage.pids_set = limits->processes;
}

void cgroup_mark(struct shared *shared) {
  shared->cpu_mark_us = cgroup_cpu_us();
  shared->oom_mark = cgroup_oom_kills();
  shared->refusal_mark = cgroup_refusals();
}

// A leaf with a process in it cannot go.
void cgroup_close(void) {
  starter_close();
  for (int i = 0; i < CONTROLLERS; i++) {
    if (leaves[i][0] == 0) continue;
    rmdir(leaves[i]);
    *strrchr(leaves[i], '/') = 0;
    rmdir(leaves[i]); // refused while another box is there
    leaves[i][0] = 0;
  }
  cage.cgroup = 0;
}

uint64_t cgroup_cpu_us(void) { return cage.cgroup == 2 ? field(cage.cpu_fd, "usage_usec") : field(cage.cpu_fd, NULL) / 1000; }
uint64_t cgroup_oom_kills(void) { return field(cage.oom_fd, "oom_kill"); }
uint64_t cgroup_refusals(void) { return field(cage.pids_fd, "max"); }
