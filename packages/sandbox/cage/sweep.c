// Run by the owner of a helper that was killed: takes away what a helper takes away at its own end. The next box would find it too, but
// that may be long from now.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define MOMENTS 10000 // of a millisecond, for all that ran in the box to end: on a busy machine seconds

static int left = MOMENTS;

static bool wait_a_moment(void) {
  if (left-- <= 0) return false;
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return true;
}

// Whoever leased the slot has written its number into the lock.
static bool is_leased_by(int folder, const char *name, const char *helper) {
  char text[32] = {0};
  int lock = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0) return false;
  ssize_t got = read(lock, text, sizeof text - 1);
  close(lock);
  text[strcspn(text, "\n")] = 0;
  return got > 0 && strcmp(text, helper) == 0;
}

// Everything that ran in the box has the lock open: who gets it is alone. Locks of other helpers that were killed go as well.
static void sweep_leases(const char *helper) {
  DIR *leases = opendir(LEASE_FOLDER);
  for (struct dirent *entry; leases != NULL && (entry = readdir(leases)) != NULL;) {
    int slot, lock;
    if (sscanf(entry->d_name, "box-%d.lock", &slot) != 1) continue;
    while ((lock = lock_slot(slot)) < 0 && is_leased_by(dirfd(leases), entry->d_name, helper) && wait_a_moment()) continue;
    if (lock < 0) continue;
    while (!cgroup_remove(slot) && wait_a_moment()) continue;
    unlock_slot(slot, lock);
  }
  if (leases != NULL) closedir(leases);
}

static void sweep_folder(const char *folder) {
  int lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), parent = openat(lock, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const char *name = strrchr(folder, '/');
  if (lock < 0 || parent < 0 || name == NULL) return;
  while (flock(lock, LOCK_EX | LOCK_NB) != 0)
    if (!wait_a_moment()) return;
  remove_folder(parent, name + 1);
}

void sweep_main(const char *helper, const char *folder) {
  if (geteuid() == 0) sweep_leases(helper);
  if (folder[0] != 0) sweep_folder(folder);
  _exit(0);
}
