// Run inside a box by the sandbox's self-check: says what it could do there. Exit codes are the answer.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
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
enum { SAW_SETTINGS_OF_MACHINE = 1, SAW_ROOT_OUTSIDE = 2, SAW_SOCKET_OF_HOST = 4, SAW_DEVICE = 8, SAW_CHANGES = 16, SAW_HUGE_PAGES = 32 };
enum { SAW_BESIDE = 1, SAW_HOST = 2, SAW_SOCKET = 4, SAW_REPOSITORY = 8, SAW_SETTINGS = 16, SAW_DEVICES = 32, SAW_HUGE = 64 };

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
  bool whited = file >= 0 && syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, path, RENAME_WHITEOUT) == 0;
  snprintf(path, sizeof path, "%s/device", folder);
  return lent || whited || mknod(path, S_IFCHR | 0600, 0) == 0;
}

// Whether it can change what the host knows of a device. It is given the mode that it has.
static bool changes_devices(void) {
  static const char *const DEVICES[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
  for (size_t i = 0; i < sizeof DEVICES / sizeof *DEVICES; i++) {
    struct stat found;
    if (stat(DEVICES[i], &found) != 0) continue;
    const struct timespec same[2] = {found.st_atim, found.st_mtim};
    if (chmod(DEVICES[i], found.st_mode & 07777) == 0 || utimensat(AT_FDCWD, DEVICES[i], same, 0) == 0) return true;
  }
  return false;
}

// Whether it is root outside of its user namespace: the kernel asks for no more of who wants to change the machine's settings.
static bool is_root_outside(void) {
  unsigned inside, outside, count;
  bool root = false;
  FILE *map = fopen("/proc/self/uid_map", "re");
  while (map != NULL && fscanf(map, "%u %u %u", &inside, &outside, &count) == 3)
    if (getuid() >= inside && getuid() - inside < count && outside + (getuid() - inside) == 0) root = true;
  if (map != NULL) fclose(map);
  return root;
}

static bool opens_settings(void) {
  static const char *const SETTINGS[] = {"/proc/sys/kernel/core_pattern", "/proc/sys/fs/lease-break-time", "/proc/sysrq-trigger"};
  for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++)
    if (open(SETTINGS[i], O_WRONLY) >= 0) return true;
  return false;
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

// The address of a file, or of a name without one; false if it is too long.
struct address {
  struct sockaddr_un at;
  socklen_t length;
};
static bool address_of(struct address *into, const char *name, bool is_file, const char *more) {
  *into = (struct address){.at = {.sun_family = AF_UNIX}};
  size_t first = is_file ? 0 : 1, room = sizeof into->at.sun_path - first;
  int length = snprintf(into->at.sun_path + first, room, "%s%s", name, more);
  into->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + first + (size_t)length);
  return length > 0 && (size_t)length < room;
}

#define DATAGRAMS ".datagrams" // what listens for these is called so beside the other

static bool bound(const char *name, bool is_file) {
  struct address stream, datagrams;
  int one = socket(AF_UNIX, SOCK_STREAM, 0), two = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (one < 0 || two < 0 || !address_of(&stream, name, is_file, "") || !address_of(&datagrams, name, is_file, DATAGRAMS)) return false;
  if (bind(one, (struct sockaddr *)&stream.at, stream.length) != 0 || bind(two, (struct sockaddr *)&datagrams.at, datagrams.length) != 0) return false;
  if (is_file && (chmod(stream.at.sun_path, 0666) != 0 || chmod(datagrams.at.sun_path, 0666) != 0)) return false;
  return listen(one, 8) == 0;
}

// Outside of any box: listens as services of a host do, until its owner is gone.
static int serve(const char *file, const char *name) {
  char byte;
  if (!bound(file, true) || !bound(name, false) || write(1, "k", 1) != 1) return 1;
  while (read(0, &byte, 1) > 0) continue;
  return 0;
}

// A socket that is to be had without being asked for by name can be sent elsewhere, unless it is connected for good.
static bool sends(int any, const struct address *there) {
  return sendto(any, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&there->at, there->length) == 1 ||
         connect(any, (const struct sockaddr *)&there->at, there->length) == 0;
}

static bool reaches(const char *name, bool is_file) {
  static const int PAIRS[] = {SOCK_DGRAM, SOCK_RAW};
  struct address stream, datagrams;
  if (!address_of(&stream, name, is_file, "") || !address_of(&datagrams, name, is_file, DATAGRAMS)) return false;
  int one = socket(AF_UNIX, SOCK_STREAM, 0), two = socket(AF_UNIX, SOCK_DGRAM, 0), pair[2];
  if (one >= 0 && connect(one, (struct sockaddr *)&stream.at, stream.length) == 0) return true;
  if (two >= 0 && sends(two, &datagrams)) return true;
  for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
    if (socketpair(AF_UNIX, PAIRS[i], 0, pair) == 0 && sends(pair[0], &datagrams)) return true;
  // What is connected for good sends to its other end, whatever it is told.
  return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && connect(pair[0], (struct sockaddr *)&stream.at, stream.length) == 0;
}

static bool is_told_of(const char *path) {
  int told = inotify_init1(IN_CLOEXEC);
  return told >= 0 && inotify_add_watch(told, path, IN_ALL_EVENTS) >= 0;
}

// Whether a machine that has set huge pages aside would give it some: without any, it says that there are none, and not that they are refused.
static bool gets_huge_pages(void) {
  static const size_t bytes = 2u << 20;
  void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (mapped != MAP_FAILED || errno != EPERM) return true;
  if (syscall(SYS_memfd_create, "huge", 4 /* MFD_HUGETLB */) >= 0 || (errno != EPERM && errno != ENOSYS)) return true;
  return shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_HUGETLB | 0600) >= 0 || (errno != EPERM && errno != ENOSYS);
}

// More than one exit code has room for. A listener of the host is behind a file and a name.
static int corners(const char *socket_file, const char *socket_name) {
  int seen = 0;
  if (opens_settings()) seen |= SAW_SETTINGS_OF_MACHINE;
  if (is_root_outside()) seen |= SAW_ROOT_OUTSIDE;
  if (reaches(socket_file, true) || reaches(socket_name, false)) seen |= SAW_SOCKET_OF_HOST;
  if (changes_devices()) seen |= SAW_DEVICE;
  if (is_told_of(socket_file)) seen |= SAW_CHANGES;
  if (gets_huge_pages()) seen |= SAW_HUGE_PAGES;
  return seen;
}

// In a folder to work in, with a secret beside it and a listener behind a file in it and behind a name.
static int at_work(const char *secret, const char *socket_file, const char *socket_name) {
  static const char *const HOST[] = {"/etc/shadow", "/etc/ssh", "/var/lib", "/var/log", "/run", "/srv", "/opt", "/home", "/root", "/sys", "/mnt", "/media", "/boot"};
  int seen = 0;
  if (access(secret, F_OK) == 0) seen |= SAW_BESIDE;
  for (size_t i = 0; i < sizeof HOST / sizeof *HOST; i++) {
    // A folder on the way to what is shown has a name inside, and nothing else.
    struct stat found;
    if (stat(HOST[i], &found) == 0 && !is_below(secret, HOST[i])) seen |= SAW_HOST;
  }
  if (reaches(socket_file, true) || reaches(socket_name, false)) seen |= SAW_SOCKET;
  if (open(".git/config", O_CREAT | O_WRONLY, 0600) >= 0 || rename(".git", "other") == 0 || rmdir(".git") == 0) seen |= SAW_REPOSITORY;
  if (opens_settings()) seen |= SAW_SETTINGS;
  if (changes_devices()) seen |= SAW_DEVICES;
  if (lends_rights(".")) seen |= SAW_MODES;
  if (gets_huge_pages()) seen |= SAW_HUGE;
  return seen;
}

static int hog(void) {
  char *all = mmap(NULL, HOG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return 2;
  for (size_t at = 0; at < HOG_BYTES; at += HOG_STEP) memset(all + at, 1, HOG_STEP);
  return 0;
}

// Fills pairs of sockets, as many as there may be, and waits to be found.
static int swell(void) {
  static char block[1 << 16];
  int pair[2];
  while (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0)
    for (int i = 0; i < 2; i++) {
      setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &(int){HOG_BYTES}, sizeof(int));
      while (write(pair[i], block, sizeof block) > 0) continue;
    }
  sleep(LOOKED_AT_S);
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
  if (count == 3 && strcmp(what, "corners") == 0) _exit(corners(words[1], words[2]));
  if (strcmp(what, "memory") == 0) _exit(hog());
  if (strcmp(what, "buffers") == 0) _exit(swell());
  if (strcmp(what, "processes") == 0) _exit(breed());
  _exit(99);
}
