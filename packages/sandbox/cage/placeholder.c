// A folder without a repository gets an empty `.git` while boxes work in it, so that there is something to cover: no program can make a
// repository there whose settings somebody else's git would obey. An empty one is no repository to git, and stays if we are killed; the
// next box takes it away. Boxes of one folder share a lock on it, and the last one removes it: as long as it is covered somewhere it
// must stay, since removing a folder takes away what is mounted on it.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 200
#define LOCK_WAIT_NS 10000000l

static char *placeholder;
static int lock = -1;

static bool is_empty(int folder) {
  int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = again < 0 ? NULL : fdopendir(again);
  if (entries == NULL) return false;
  int count = 0;
  while (count < 3 && readdir(entries) != NULL) count++;
  closedir(entries);
  return count == 2; // itself and the one above
}

// Whether what we locked is still what has the name.
static bool holds(const char *path) {
  struct stat held, found;
  return fstat(lock, &held) == 0 && lstat(path, &found) == 0 && held.st_ino == found.st_ino && held.st_dev == found.st_dev;
}

// False where nobody could make one, the box's program neither.
static bool make(const char *path, const struct stat *owner) {
  if (mkdir(path, 0755) == 0) {
    if (cage.slot_lock >= 0 && lchown(path, owner->st_uid, owner->st_gid) != 0) give_up(path);
    return true;
  }
  if (errno == EROFS || errno == EACCES) return false;
  if (errno != EEXIST) give_up(path);
  return true;
}

void placeholder_open(const char *folder) {
  char path[PATH_BYTES];
  struct stat owner, found;
  if (snprintf(path, sizeof path, "%s/.git", folder) >= PATH_BYTES || stat(folder, &owner) != 0) give_up(folder);
  for (int tries = 0; tries < LOCK_TRIES; tries++) {
    if (lstat(path, &found) != 0 && (errno != ENOENT || !make(path, &owner))) return;
    lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0 && errno == ENOENT) continue;
    if (lock < 0 || !is_empty(lock)) break; // a repository, or whatever it is: not ours to remove
    if (flock(lock, LOCK_SH | LOCK_NB) == 0 && holds(path)) {
      placeholder = strdup(path);
      return;
    }
    close(lock);
    lock = -1;
    nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
  }
  if (lock >= 0) close(lock);
  else if (lstat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
    errno = EWOULDBLOCK;
    give_up(path);
  }
  lock = -1;
}

void placeholder_close(void) {
  if (placeholder != NULL && flock(lock, LOCK_EX | LOCK_NB) == 0 && holds(placeholder)) rmdir(placeholder);
  if (lock >= 0) close(lock);
  lock = -1;
  placeholder = NULL;
}
