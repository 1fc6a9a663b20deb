// Run inside a box by the sandbox's self-check: says what it could do there. Exit codes are the answer.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define HOG_BYTES (256u << 20)
#define HOG_STEP (1u << 20)
#define FORKS 64
#define LOOKED_AT_S 3 // where processes are counted by looking, somebody must get to look

enum { SAW_FILTER_OFF = 1, SAW_RIGHTS = 2, SAW_NETWORK = 4, SAW_SECRETS = 8, SAW_PROCESSES = 16, SAW_ROOT = 32, SAW_OTHERS = 64, SAW_MODES = 128 };
enum { SAW_BESIDE = 1, SAW_HOST = 2, SAW_SOCKET = 4, SAW_REPOSITORY = 8, SAW_SETTINGS = 16 };

// Whether it can set anything of its parent, which may be whoever watches it.
static bool reaches_others(void) {
  struct rlimit limit;
  cpu_set_t processors;
  struct sched_param least = {0};
  pid_t parent = getppid();
  CPU_ZERO(&processors);
  CPU_SET(0, &processors);
  return syscall(SYS_prlimit64, parent, RLIMIT_NOFILE, NULL, &limit) == 0 || sched_setaffinity(parent, sizeof processors, &processors) == 0 ||
         sched_setscheduler(parent, SCHED_OTHER, &least) == 0 || setpriority(PRIO_PROCESS, (id_t)parent, 19) == 0 ||
         syscall(SYS_ioprio_set, 1, parent, 3 << 13) == 0;
}

// Whether it can leave a file that runs with the rights of its owner, or a device.
static bool lends_rights(const char *folder) {
  char path[PATH_BYTES];
  struct stat found;
  snprintf(path, sizeof path, "%s/lent", folder);
  int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
  bool lent = file >= 0 && (fchmod(file, 04700) == 0 || fchmod(file, 02700) == 0) && fstat(file, &found) == 0 && (found.st_mode & 06000) != 0;
  snprintf(path, sizeof path, "%s/device", folder);
  return lent || mknod(path, S_IFCHR | 0600, 0) == 0;
}


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
  if (reaches_others()) seen |= SAW_OTHERS;
  if (lends_rights(".")) seen |= SAW_MODES;
  return seen;
}

static int bound(const char *name, size_t length) {
  struct sockaddr_un here = {.sun_family = AF_UNIX};
  int any = socket(AF_UNIX, SOCK_STREAM, 0);
  if (any < 0 || length > sizeof here.sun_path) return -1;
  memcpy(here.sun_path, name, length);
  int result = bind(any, (struct sockaddr *)&here, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  return result == 0 ? listen(any, 8) : -1;
}

// Outside of any box: listens as services of a host do, until its owner is gone.
static int serve(const char *file, const char *name) {
  char abstract[sizeof((struct sockaddr_un *)0)->sun_path] = {0}, byte;
  size_t length = (size_t)snprintf(abstract + 1, sizeof abstract - 1, "%s", name);
  if (bound(file, strlen(file)) != 0 || chmod(file, 0666) != 0 || bound(abstract, length + 1) != 0 || write(1, "k", 1) != 1) return 1;
  while (read(0, &byte, 1) > 0) continue;
  return 0;
}

static bool connects(const char *name, size_t length) {
  struct sockaddr_un there = {.sun_family = AF_UNIX};
  int any = socket(AF_UNIX, SOCK_STREAM, 0);
  if (any < 0 || length > sizeof there.sun_path) return false;
  memcpy(there.sun_path, name, length);
  return connect(any, (struct sockaddr *)&there, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0;
}

// In a folder to work in, with a secret beside it and a listener behind a file in it and behind a name.
static int at_work(const char *secret, const char *socket_file, const char *socket_name) {
  static const char *const HOST[] = {"/etc/shadow", "/etc/ssh", "/var/lib", "/var/log", "/run", "/srv", "/opt", "/home", "/root", "/sys", "/mnt", "/media", "/boot"};
  char name[sizeof((struct sockaddr_un *)0)->sun_path] = {0};
  size_t length = (size_t)snprintf(name + 1, sizeof name - 1, "%s", socket_name);
  int seen = 0;
  if (access(secret, F_OK) == 0) seen |= SAW_BESIDE;
  for (size_t i = 0; i < sizeof HOST / sizeof *HOST; i++) {
    // A folder on the way to what is shown has a name inside, and nothing else.
    struct stat found;
    if (stat(HOST[i], &found) == 0 && !is_below(secret, HOST[i])) seen |= SAW_HOST;
  }
  if (connects(socket_file, strlen(socket_file)) || connects(name, length + 1)) seen |= SAW_SOCKET;
  if (open(".git/config", O_CREAT | O_WRONLY, 0600) >= 0 || rename(".git", "other") == 0 || rmdir(".git") == 0) seen |= SAW_REPOSITORY;
  if (open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0) seen |= SAW_SETTINGS;
  if (lends_rights(".")) seen |= SAW_MODES;
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

void probe_main(int count, char **words) {
  const char *what = words[0];
  if (count == 3 && strcmp(what, "serve") == 0) _exit(serve(words[1], words[2]));
  if (count == 4 && strcmp(what, "work") == 0) _exit(at_work(words[1], words[2], words[3]));
  if (strcmp(what, "sight") == 0) _exit(sight());
  if (strcmp(what, "memory") == 0) _exit(hog());
  if (strcmp(what, "processes") == 0) _exit(breed());
  _exit(99);
}
