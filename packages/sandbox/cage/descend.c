// Without a pid namespace, a run's processes are those that descend from its init, which inherits the orphans among them.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_BYTES 8192

static pid_t parent_of(pid_t pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return 0;
  text[got] = 0;
  char *rest = strrchr(text, ')');
  int parent = 0;
  if (rest == NULL || sscanf(rest + 1, " %*c %d", &parent) != 1) return 0;
  return parent;
}

// For kernels that keep no list of children.
static uint32_t children_by_parent(pid_t of, pid_t *into, uint32_t room) {
  uint32_t count = 0;
  DIR *processes = opendir("/proc");
  for (struct dirent *entry; processes != NULL && count < room && (entry = readdir(processes)) != NULL;) {
    pid_t pid = atoi(entry->d_name);
    if (pid > 0 && parent_of(pid) == of) into[count++] = pid;
  }
  if (processes != NULL) closedir(processes);
  return count;
}

// Each thread has a list of its own.
uint32_t children_of(pid_t of, pid_t *into, uint32_t room) {
  char path[64], text[LIST_BYTES];
  snprintf(path, sizeof path, "/proc/%d/task", of);
  DIR *threads = opendir(path);
  if (threads == NULL) return 0;
  uint32_t count = 0;
  for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
    if (atoi(entry->d_name) <= 0) continue;
    char list[300];
    snprintf(list, sizeof list, "%s/children", entry->d_name);
    int file = openat(dirfd(threads), list, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT && faccessat(dirfd(threads), entry->d_name, F_OK, 0) == 0) {
      closedir(threads);
      return children_by_parent(of, into, room);
    }
    ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[got > 0 ? got : 0] = 0;
    for (char *at = text, *end; count < room; at = end) {
      long child = strtol(at, &end, 10);
      if (end == at) break;
      into[count++] = (pid_t)child;
    }
  }
  closedir(threads);
  return count;
}

// All stop before any is killed: nobody may fork while we look.
static bool kill_family(void) {
  pid_t family[MAX_FAMILY];
  uint32_t count = children_of(getpid(), family, MAX_FAMILY);
  for (uint32_t i = 0; i < count; i++) {
    kill(family[i], SIGSTOP);
    count += children_of(family[i], family + count, MAX_FAMILY - count);
  }
  for (uint32_t i = 0; i < count; i++) kill(family[i], SIGKILL);
  return count > 0;
}

// As root the box has a user of its own, and all that runs as that user goes at one stroke.
bool kill_descendants(pid_t program) {
  if (cage.slot_lock >= 0) {
    pid_t killer = fork();
    if (killer == 0) {
      if (syscall(SYS_setresuid, cage.uid, cage.uid, cage.uid) == 0) kill(-1, SIGKILL);
      _exit(0);
    }
    if (killer > 0) waitpid(killer, NULL, 0);
  }
  if (program > 0) kill(-program, SIGKILL);
  return !kill_family();
}

// How many tasks this user has on the machine, from /proc.
uint64_t tasks_of_user(void) {
  uint64_t tasks = 0;
  DIR *processes = opendir("/proc");
  for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
    struct stat found;
    char path[300];
    if (atoi(entry->d_name) <= 0) continue;
    snprintf(path, sizeof path, "%s/task", entry->d_name);
    if (fstatat(dirfd(processes), path, &found, 0) == 0 && found.st_uid == getuid()) tasks += (uint64_t)found.st_nlink - 2;
  }
  if (processes != NULL) closedir(processes);
  return tasks;
}
