// Run inside a box by the sandbox's self-check: says what it could do there. Exit codes are the answer.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOG_BYTES (256u << 20)
#define HOG_STEP (1u << 20)
#define FORKS 64
#define LOOKED_AT_S 3 // where processes are counted by looking, somebody must get to look

enum { SAW_FILTER_OFF = 1, SAW_RIGHTS = 2, SAW_NETWORK = 4, SAW_SECRETS = 8, SAW_PROCESSES = 16, SAW_ROOT = 32 };

static int sight(void) {
  int seen = 0;
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2) seen |= SAW_FILTER_OFF;
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct held[2];
  bool read = syscall(SYS_capget, &head, held) == 0;
  if (!read || (held[0].permitted | held[1].permitted) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) seen |= SAW_RIGHTS;
  int any = socket(AF_INET, SOCK_DGRAM, 0);
  if (any >= 0) seen |= SAW_NETWORK;
  if (open("/etc/ssh", O_RDONLY) >= 0 || open("/etc/shadow", O_RDONLY) >= 0 || open("/var/lib", O_RDONLY) >= 0) seen |= SAW_SECRETS;
  if (getppid() != 1) seen |= SAW_PROCESSES;
  if (getuid() == 0) seen |= SAW_ROOT;
  return seen;
}

static int hog(void) {
  char *all = mmap(NULL, HOG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return 2;
  for (size_t at = 0; at < HOG_BYTES; at += HOG_STEP) memset(all + at, 1, HOG_STEP);
  return 0;
}

// 1: refused, as it should be.
static int breed(void) {
  for (int i = 0; i < FORKS; i++) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      pause();
      _exit(0);
    }
  }
  sleep(LOOKED_AT_S);
  return 0;
}

void probe_main(const char *what) {
  if (strcmp(what, "sight") == 0) _exit(sight());
  if (strcmp(what, "memory") == 0) _exit(hog());
  if (strcmp(what, "processes") == 0) _exit(breed());
  _exit(99);
}
