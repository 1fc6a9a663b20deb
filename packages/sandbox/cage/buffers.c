// Memory of a run that is in no process's size: buffers of sockets and pipes, lists to wait for (epoll), and the tables of its pages. A cgroup counts it all; without
// one the kernel tells nobody what a socket holds, so each beyond a few counts as much as it could hold.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FREE_DESCRIPTORS 64 // nobody looks at what they are while all processes together have no more
#define FREE_SOCKETS 32     // the helper's own are among them
#define FREE_PIPES 32
#define PIPE_BYTES (64u << 10)
#define LAST_MESSAGE_BYTES (64u << 10) // the last one may pass a socket's bound
#define BECOMING_US 20000
#define WAITED_FOR_BYTES 200u // of the kernel, measured
#define BLOCK_BYTES 512u
#define MAX_BUFFERS 8192               // different ones that are told apart; those beyond count each time that they are met

static uint64_t met[2 * MAX_BUFFERS]; // a table by number of the file; 0: free
static uint32_t met_count;

// Whether it is met for the first time. Processes that were forked hold the same ones.
static bool is_new(uint64_t number) {
  uint64_t at = number * 0x9e3779b97f4a7c15ull >> 50;
  for (; met[at] != 0; at = (at + 1) % (2 * MAX_BUFFERS))
    if (met[at] == number) return false;
  if (met_count == MAX_BUFFERS) return true;
  met[at] = number;
  met_count++;
  return true;
}

static uint64_t socket_bytes(void) {
  static uint64_t known;
  int pair[2], bytes = 0;
  socklen_t length = sizeof bytes;
  if (known != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return known;
  if (getsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, &length) == 0 && bytes > 0) known = (uint64_t)bytes + LAST_MESSAGE_BYTES;
  close(pair[0]);
  close(pair[1]);
  return known;
}

static uint64_t number_after(const char *text, const char *word) {
  const char *at = strstr(text, word);
  return at == NULL ? 0 : strtoull(at + strlen(word), NULL, 10);
}

// Its own network counts its sockets, those too that are on their way from one process to another and in nobody's hands.
static uint64_t sockets_of_network(void) {
  char text[1024];
  if (cage.tier == TIER_LANDLOCK || cage.host_network || read_small("/proc/self/net/sockstat", text, sizeof text) <= 0) return 0;
  return number_after(text, "sockets: used ");
}

static DIR *descriptors_of(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  return opendir(path);
}

// Newer kernels say how many as the folder's size; older ones have them counted.
static uint64_t count_descriptors(pid_t pid, uint64_t *unreadable) {
  struct stat found;
  DIR *all = descriptors_of(pid);
  if (all == NULL) {
    *unreadable += errno == EACCES && has_memory(pid); // one that has ended cannot be read either
    return 0;
  }
  uint64_t count = fstat(dirfd(all), &found) == 0 ? (uint64_t)found.st_size : 0;
  while (count <= FREE_DESCRIPTORS && found.st_size == 0 && readdir(all) != NULL) count++;
  closedir(all);
  return count;
}

// Returns what its lists of descriptors to wait for can hold: each may name all that it has.
static uint64_t look_at_descriptors(pid_t pid, uint64_t *sockets, uint64_t *pipes) {
  DIR *all = descriptors_of(pid);
  uint64_t descriptors = 0, lists = 0;
  for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
    char target[64];
    ssize_t length = readlinkat(dirfd(all), entry->d_name, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = 0;
    descriptors++;
    if (strcmp(target, "anon_inode:[eventpoll]") == 0) lists++;
    bool is_socket = strncmp(target, "socket:[", 8) == 0, is_pipe = strncmp(target, "pipe:[", 6) == 0;
    if (!is_socket && !is_pipe) continue;
    if (is_new(number_after(target, ":["))) ++*(is_socket ? sockets : pipes);
  }
  if (all != NULL) closedir(all);
  return lists * descriptors * WAITED_FOR_BYTES;
}

static uint64_t unlinked_of(pid_t pid, dev_t device) {
  uint64_t bytes = 0;
  DIR *all = descriptors_of(pid);
  for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
    struct stat found;
    if (fstatat(dirfd(all), entry->d_name, &found, 0) != 0 || !S_ISREG(found.st_mode) || found.st_nlink != 0 || found.st_dev != device) continue;
    if (is_new(found.st_ino)) bytes += (uint64_t)found.st_blocks * BLOCK_BYTES;
  }
  if (all != NULL) closedir(all);
  return bytes;
}

static void forget_met(void) {
  memset(met, 0, sizeof met);
  met_count = 0;
}

// Files without a name, beside a real folder, that somebody has open: who looks into the folder does not find them.
uint64_t watch_unlinked(int folder) {
  pid_t seen[MAX_FAMILY];
  struct stat found;
  uint32_t count = watch_seen(seen, MAX_FAMILY);
  uint64_t bytes = 0;
  if (fstat(folder, &found) != 0) return 0;
  forget_met();
  for (uint32_t i = 0; i < count; i++) bytes += unlinked_of(seen[i], found.st_dev);
  return bytes;
}

static uint64_t table_bytes(pid_t pid) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  return read_small(path, text, sizeof text) > 0 ? number_after(text, "\nVmPTE:") * 1024u : 0;
}

// Of all that were seen at the last look. Without a user of our own, somebody may not let itself be looked at: it counts as holding all that it
// may. Until the run has used some time, that may be our own process which is about to become the program.
uint64_t watch_buffers(uint64_t cpu_us) {
  pid_t seen[MAX_FAMILY];
  uint32_t count = watch_seen(seen, MAX_FAMILY);
  uint64_t bytes = 0, descriptors = 0, sockets = 0, pipes = 0, unreadable = 0;
  for (uint32_t i = 0; i < count; i++) {
    bytes += table_bytes(seen[i]);
    descriptors += count_descriptors(seen[i], &unreadable);
  }
  if (descriptors > FREE_DESCRIPTORS) {
    forget_met();
    for (uint32_t i = 0; i < count; i++) bytes += look_at_descriptors(seen[i], &sockets, &pipes);
  }
  if (cpu_us > BECOMING_US) sockets += unreadable * OPEN_FILES_WATCHED;
  uint64_t counted = sockets_of_network();
  if (counted > sockets) sockets = counted;
  if (sockets > FREE_SOCKETS) bytes += (sockets - FREE_SOCKETS) * socket_bytes();
  if (pipes > FREE_PIPES) bytes += (pipes - FREE_PIPES) * PIPE_BYTES;
  return bytes;
}
