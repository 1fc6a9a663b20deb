// Names that no program may make: only what is there can be covered, so an empty folder or file is made where there is none. `.git` of the
// working folder is one of them: a repository's settings are obeyed by somebody else's git, and an empty one is no repository to git.
// It stays if we are killed; the next box takes it away. Boxes share a lock on it, and the last one removes it: as long as it is covered
// somewhere it must stay, since removing it takes away what is mounted on it.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 200
#define LOCK_WAIT_NS 10000000l
#define NAME_BYTES 256
// The second at which what we make was changed last: an empty one of any other time is somebody's own and is left there.
#define MADE_BY_US 1

static struct held {
  const char *path; // for messages
  char name[NAME_BYTES];
  int within, lock; // the folder that it lies in, and what we hold
  bool is_folder, is_marked;
} all[MAX_LIST + 1];
static uint32_t held_count;

static _Noreturn void refuse(const struct held *one, const char *why) {
  char message[PATH_BYTES];
  int kept = errno;
  snprintf(message, sizeof message, "%s%s%s", one->path, strcmp(one->name, ".git") == 0 ? "/.git" : "", why);
  errno = kept;
  give_up(message);
}

static bool is_empty_folder(int folder) {
  int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = again < 0 ? NULL : fdopendir(again);
  if (entries == NULL) return false;
  int count = 0;
  while (count < 3 && readdir(entries) != NULL) count++;
  closedir(entries);
  return count == 2; // itself and the one above
}

static bool is_empty(int opened) {
  struct stat found;
  if (fstat(opened, &found) != 0) return false;
  return S_ISDIR(found.st_mode) ? is_empty_folder(opened) : S_ISREG(found.st_mode) && found.st_size == 0;
}

// Whether what we locked is still what has the name.
static bool holds(const struct held *one) {
  struct stat held, found;
  return fstat(one->lock, &held) == 0 && fstatat(one->within, one->name, &found, AT_SYMLINK_NOFOLLOW) == 0 && held.st_ino == found.st_ino &&
         held.st_dev == found.st_dev;
}

static int make_empty(const struct held *one) {
  if (one->is_folder) return mkdirat(one->within, one->name, 0755);
  int made = openat(one->within, one->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made >= 0) close(made);
  return made < 0 ? -1 : 0;
}

// False where nobody could make one, the box's program neither.
static bool make(const struct held *one, const struct stat *owner) {
  const struct timespec times[2] = {{.tv_sec = MADE_BY_US}, {.tv_sec = MADE_BY_US}};
  if (make_empty(one) == 0) {
    if (cage.slot_lock >= 0 && fchownat(one->within, one->name, owner->st_uid, owner->st_gid, AT_SYMLINK_NOFOLLOW) != 0) refuse(one, "");
    if (one->is_marked && utimensat(one->within, one->name, times, AT_SYMLINK_NOFOLLOW) != 0) refuse(one, "");
    return true;
  }
  // Whoever owns a folder that cannot be written can change that.
  if (errno == EROFS || (errno == EACCES && cage.slot_lock < 0 && owner->st_uid != cage.uid)) return false;
  if (errno != EEXIST) refuse(one, " is not there, and cannot be made to be covered");
  return true;
}

// False where there is none and nobody can make one; else `found` is what is to be covered.
static bool hold(struct held *one, struct stat *found) {
  struct stat owner;
  if (fstat(one->within, &owner) != 0 || !S_ISDIR(owner.st_mode)) refuse(one, "");
  for (int tries = 0; tries < LOCK_TRIES; tries++) {
    if (fstatat(one->within, one->name, found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) refuse(one, "");
      if (!make(one, &owner)) return false;
      continue;
    }
    errno = ELOOP;
    if (S_ISLNK(found->st_mode)) refuse(one, " is a link, which cannot be kept from being replaced");
    if (!S_ISDIR(found->st_mode) && !S_ISREG(found->st_mode)) return true;
    one->lock = openat(one->within, one->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (one->lock < 0 && errno == ENOENT) continue;
    if (one->lock < 0) return true;
    // A folder that the last box took away while we looked at it holds nothing, not even itself: it is not empty, it is gone.
    bool empty = is_empty(one->lock), there = holds(one);
    if (empty && flock(one->lock, LOCK_SH | LOCK_NB) == 0 && holds(one)) return fstat(one->lock, found) == 0;
    close(one->lock);
    one->lock = -1;
    if (there && !empty) return true; // a repository, settings, or whatever it is: not ours to remove
    nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
  }
  errno = EWOULDBLOCK;
  refuse(one, " comes and goes");
}

static struct held *new_held(const char *path, int within, const char *name, size_t length) {
  if (held_count == MAX_LIST + 1) give_up("too many names to hold");
  if (within < 0 || length == 0 || length >= NAME_BYTES) give_up(path);
  struct held *one = &all[held_count++];
  *one = (struct held){.path = path, .within = within, .lock = -1};
  memcpy(one->name, name, length);
  return one;
}

bool hold_repository(const char *folder, int opened) {
  struct stat found;
  struct held *one = new_held(folder, openat(opened, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), ".git", strlen(".git"));
  one->is_folder = true;
  return hold(one, &found);
}

// By its path, which ends with a slash if it is to be a folder. The slash is taken off.
bool hold_name(char *path, struct stat *found) {
  size_t length = strlen(path);
  bool is_folder = length > 0 && path[length - 1] == '/';
  if (is_folder) path[length - 1] = 0;
  char *slash = strrchr(path, '/');
  if (slash == NULL || slash == path) give_up(path);
  *slash = 0;
  int within = open_unlinked(path);
  *slash = '/';
  struct held *one = new_held(path, within, slash + 1, strlen(slash + 1));
  one->is_folder = is_folder;
  one->is_marked = true;
  return hold(one, found);
}

static bool is_ours(const struct held *one) {
  struct stat found;
  if (one->lock < 0 || !is_empty(one->lock) || fstat(one->lock, &found) != 0) return false;
  return !one->is_marked || (found.st_mtim.tv_sec == MADE_BY_US && found.st_mtim.tv_nsec == 0);
}

void let_go_of_names(void) {
  for (uint32_t i = 0; i < held_count; i++) {
    struct held *one = &all[i];
    if (is_ours(one) && flock(one->lock, LOCK_EX | LOCK_NB) == 0 && holds(one))
      unlinkat(one->within, one->name, one->is_folder ? AT_REMOVEDIR : 0);
    if (one->lock >= 0) close(one->lock);
    close(one->within);
  }
  held_count = 0;
}
