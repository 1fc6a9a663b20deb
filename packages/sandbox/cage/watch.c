// What the processes of a run use together, read from their own /proc. Only needed where no cgroup counts for us.
#include "watch.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CPU_CLOCK_OF(pid) ((clockid_t)(((unsigned)~(pid) << 3) | 2u))
#define IGNORES_CHILDREN (1ull << (SIGCHLD - 1))
#define STAT_TICKS 2 // the kernel rounds user and system time down, each

struct known known[MAX_KNOWN];
uint32_t known_count;
static uint64_t hidden_us;
static uint64_t tick_us, page_bytes;

ssize_t read_small(const char *path, char *into, size_t room) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t got = read(file, into, room - 1);
  close(file);
  if (got >= 0) into[got] = 0;
  return got;
}

static struct known *find(pid_t pid, bool alive) {
  for (uint32_t i = 0; i < known_count; i++)
    if (known[i].pid == pid && known[i].alive == alive) return &known[i];
  return NULL;
}

static uint64_t own_us_of(pid_t pid) {
  struct timespec used;
  if (clock_gettime(CPU_CLOCK_OF(pid), &used) != 0) return 0;
  return (uint64_t)used.tv_sec * 1000000u + (uint64_t)used.tv_nsec / 1000u;
}

// The name in a stat line may hold anything, but the last ')' ends it. `same`, if it is not 0, is when it must have been born.
static bool see(pid_t pid, unsigned long long same, struct usage *sum) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  uint64_t own_us = own_us_of(pid);
  if (find(pid, true) != NULL || read_small(path, text, sizeof text) <= 0) return false;
  char *rest = strrchr(text, ')');
  unsigned long long waited_user = 0, waited_system = 0, born = 0, size = 0, ignored = 0, faults = 0;
  long threads = 1, pages = 0;
  int parent = 0;
  if (rest == NULL) return false;
  int taken = sscanf(rest + 1, " %*c %d %*d %*d %*d %*d %*u %llu %*u %*u %*u %*u %*u %llu %llu %*d %*d %ld %*d %llu %llu %ld %*u %*u %*u %*u %*u %*u %*u %*u %llu",
                     &parent, &faults, &waited_user, &waited_system, &threads, &born, &size, &pages, &ignored);
  if (taken < 9 || (same != 0 && born != same)) return false;
  struct known *one = find(pid, false);
  if (one != NULL && one->born != born) one = NULL;
  struct known unknown = {0};
  if (one == NULL) {
    one = known_count < MAX_KNOWN ? &known[known_count++] : &unknown;
    *one = (struct known){.pid = pid, .born = born};
  }
  one->alive = true;
  one->parent = parent;
  one->own_us = own_us > one->own_us ? own_us : one->own_us;
  one->waited_us = (waited_user + waited_system) * tick_us;
  one->resident = pages > 0 ? (uint64_t)pages * page_bytes : 0;
  one->faulted = faults * page_bytes;
  one->size = size;
  one->deaf = one->ignores && (ignored & IGNORES_CHILDREN) != 0;
  one->ignores = (ignored & IGNORES_CHILDREN) != 0;
  sum->resident += one->resident;
  sum->tasks += (uint32_t)threads;
  if (one == &unknown) sum->cpu_us += one->own_us + one->waited_us;
  return true;
}

// One that is gone: its time went to its parent, to us, or to nobody.
static void bury(const struct known *gone) {
  uint64_t slack = STAT_TICKS * tick_us;
  if (gone->vanished_us > gone->waited_us + slack) hidden_us += gone->vanished_us - gone->waited_us - slack;
  if (gone->parent == getpid()) return;
  uint64_t spent = gone->own_us + gone->waited_us;
  struct known *parent = find(gone->parent, true);
  bool deaf = parent != NULL && parent->deaf;
  // A parent that has gone too: we have inherited the child, unless it was let go before.
  if (parent == NULL && (parent = find(gone->parent, false)) != NULL) deaf = parent->deaf;
  if (deaf) hidden_us += spent;
  else if (parent != NULL && parent->alive) parent->vanished_us += spent;
}

// Stops when there are too many: that is all there is to know then, and they would be more by the end of the list.
static void see_all(struct usage *sum, uint32_t most) {
  if (cage.tier == TIER_LANDLOCK) {
    pid_t family[MAX_FAMILY];
    uint32_t count = children_of(getpid(), family, MAX_FAMILY);
    for (uint32_t i = 0; i < count && sum->tasks <= most; i++)
      if (see(family[i], 0, sum)) count += children_of(family[i], family + count, MAX_FAMILY - count);
    // The kernel's list of children may leave one out while others go: whoever is known is asked for by name.
    for (uint32_t i = 0; i < known_count; i++)
      if (!known[i].alive) see(known[i].pid, known[i].born, sum);
    return;
  }
  DIR *processes = opendir("/proc");
  for (struct dirent *entry; processes != NULL && sum->tasks <= most && (entry = readdir(processes)) != NULL;) {
    pid_t pid = atoi(entry->d_name);
    if (pid > 0 && pid != getpid()) see(pid, 0, sum);
  }
  if (processes != NULL) closedir(processes);
}

struct usage watch_tree(uint32_t most_tasks) {
  struct usage sum = {0};
  struct rusage reaped;
  if (tick_us == 0) {
    tick_us = 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  }
  for (uint32_t i = 0; i < known_count; i++) known[i].alive = false;
  getrusage(RUSAGE_CHILDREN, &reaped);
  sum.cpu_us = (uint64_t)(reaped.ru_utime.tv_sec + reaped.ru_stime.tv_sec) * 1000000u + (uint64_t)(reaped.ru_utime.tv_usec + reaped.ru_stime.tv_usec);
  see_all(&sum, most_tasks);
  if (sum.tasks > most_tasks) return sum;
  for (uint32_t i = 0; i < known_count; i++)
    if (!known[i].alive) bury(&known[i]);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < known_count; i++)
    if (known[i].alive) known[kept++] = known[i];
  known_count = kept;
  for (uint32_t i = 0; i < known_count; i++) {
    const struct known *one = &known[i];
    sum.cpu_us += one->own_us + (one->vanished_us > one->waited_us ? one->vanished_us : one->waited_us);
  }
  sum.cpu_us += hidden_us;
  return sum;
}

uint64_t watch_hidden_us(void) { return hidden_us; }

uint32_t watch_seen(pid_t *into, uint32_t room) {
  uint32_t count = known_count < room ? known_count : room;
  for (uint32_t i = 0; i < count; i++) into[i] = known[i].pid;
  return count;
}
