// How long a run was starved: it could have run, and others had the processors. The kernel counts for each task how long it was on a
// processor and how long it waited for one. A task also waits while another one of the same run has the processor. That is not
// starving, or threads that get in each other's way would buy time; and between two looks it is never more than the others used.
// Tasks that ended before the first look took their figures along, so what is told is rather too little than too much.
// It counts a wait when that ends. A task that could run at two looks and was given no processor between them waits still: for how long,
// nobody says, so the clock is not over before it was given one.
#include "cage.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEEN 1024 // what those beyond wait is not counted

struct account {
  uint64_t ran_us, waited_us;
  unsigned long long times; // it was given a processor
  bool ready, seen;         // it runs or could run; it was there at a look
};

// Tasks as they were at the last look, what the whole run had used then, and how long they had been starved together.
static struct seen {
  pid_t task;
  struct account account;
} seen[MAX_SEEN];
static uint32_t seen_count;
static uint64_t last_cpu_us, total_us;

// Whether a task is ready that was not seen before, and one that was ready at the last look too and got nowhere since.
static bool any_ready, any_kept;

// The state stands behind the name, which may hold anything but ends with the last ')'.
static bool is_ready(int folder, const char *task) {
  char path[300], text[512];
  snprintf(path, sizeof path, "%s/stat", task);
  int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got > 0 ? got : 0] = 0;
  const char *end = strrchr(text, ')');
  return end != NULL && strncmp(end, ") R", 3) == 0;
}

// Three figures: nanoseconds on a processor, nanoseconds of waiting for one, and how often it was given one. Kernels that do not
// count show no such file, or three times 0 for whoever asks.
static bool read_account(int folder, const char *task, struct account *into) {
  char path[300], text[128];
  snprintf(path, sizeof path, "%s/schedstat", task);
  int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return false;
  text[got] = 0;
  unsigned long long ran, waited, times;
  if (sscanf(text, "%llu %llu %llu", &ran, &waited, &times) != 3) return false;
  *into = (struct account){ran / 1000, waited / 1000, times, is_ready(folder, task), true};
  return true;
}

static uint64_t less(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

// The account at the last look, to be overwritten. A number may be another task's by now.
static struct account *account_before(pid_t task, const struct account *now, struct account *unseen) {
  uint32_t at = 0;
  while (at < seen_count && seen[at].task != task) at++;
  if (at == MAX_SEEN) return unseen;
  if (at == seen_count) seen[seen_count++] = (struct seen){.task = task};
  struct account *before = &seen[at].account;
  if (now->waited_us < before->waited_us || now->ran_us < before->ran_us) *before = (struct account){0};
  return before;
}

static void see_tasks(const struct shared *shared, pid_t process, pid_t program, uint64_t used_us) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
    struct account now;
    pid_t task = atoi(entry->d_name);
    if (task <= 0 || !read_account(dirfd(tasks), entry->d_name, &now)) continue;
    if (task == program) { // it was ours before its time began
      now.ran_us = less(now.ran_us, shared->prelude_us);
      now.waited_us = less(now.waited_us, shared->prelude_wait_us);
    }
    struct account unseen = now;
    unseen.ready = false;
    struct account *before = account_before(task, &now, &unseen);
    total_us += less(now.waited_us - before->waited_us, less(used_us, now.ran_us - before->ran_us));
    if (now.ready && !before->seen) any_ready = true;
    if (now.ready && before->ready && before->times == now.times && before->ran_us == now.ran_us) any_kept = true;
    *before = now;
  }
  if (tasks != NULL) closedir(tasks);
}

static void see_processes(const struct shared *shared, pid_t program, uint64_t used_us) {
  if (cage.tier == TIER_LANDLOCK) {
    pid_t family[MAX_FAMILY];
    uint32_t count = children_of(getpid(), family, MAX_FAMILY);
    for (uint32_t i = 0; i < count; i++) {
      see_tasks(shared, family[i], program, used_us);
      count += children_of(family[i], family + count, MAX_FAMILY - count);
    }
    return;
  }
  DIR *processes = opendir("/proc");
  for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
    pid_t pid = atoi(entry->d_name);
    if (pid > 0 && pid != getpid()) see_tasks(shared, pid, program, used_us);
  }
  if (processes != NULL) closedir(processes);
}

// `cpu_us` is what the whole run has used. Where the kernel does not count, nothing is known.
void starved_tell(struct shared *shared, pid_t program, uint64_t cpu_us) {
  struct account own;
  if (!read_account(AT_FDCWD, "/proc/self", &own) || own.times == 0) return;
  any_ready = any_kept = false;
  see_processes(shared, program, less(cpu_us, last_cpu_us));
  last_cpu_us = cpu_us;
  // Several that wait at once are no longer starved than the clock has run, and while one of them ran they were not.
  uint64_t began_ns = shared->start_ns != 0 ? shared->start_ns : shared->go_ns;
  uint64_t most = less((now_ns() - began_ns) / 1000, cpu_us / (uint64_t)cage.cpu_count);
  shared->starved_us = any_kept || total_us > most ? most : total_us;
  shared->waits_still = any_ready || any_kept;
  shared->starved_known = true;
}
