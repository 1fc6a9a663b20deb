// Uses a known amount and says how much by its own account: `known spin MS`, `known hold MIB`, and from a small parent
// `known parent COMMAND…`, which prints the peak memory that the kernel keeps of its child.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long own_us(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static void hold(long bytes) {
  char *all = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) exit(1);
  for (long at = 0; at < bytes; at += 4096) all[at] = 1;
}

static int parent(char **command) {
  pid_t child = fork();
  if (child == 0) {
    execv(command[0], command);
    _exit(127);
  }
  struct rusage used;
  int status;
  if (wait4(child, &status, 0, &used) != child || status != 0) return 1;
  printf("%ld\n", used.ru_maxrss);
  return 0;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  if (strcmp(words[1], "parent") == 0) return parent(words + 2);
  if (strcmp(words[1], "hold") == 0) hold(atol(words[2]) * 1024 * 1024);
  if (strcmp(words[1], "spin") == 0) {
    while (own_us() < atol(words[2]) * 1000) continue;
    printf("%ld\n", own_us());
  }
  return 0;
}
