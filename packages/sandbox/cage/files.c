// Files into a box before a run and out of it afterwards. Names are followed below the box only, and never through a link.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LARGE_BYTES (128 * 1024) // more than this is not taken from what the program may write
#define PAGE_BYTES 65536u         // the largest that there are: a file takes whole ones
#define CHUNK_BYTES (1 << 20)

static int open_below(int folder, const char *name, uint64_t flags) {
  struct open_how how = {.flags = flags | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

static bool good_name(const char *name) {
  if (name[0] == 0 || name[0] == '/' || strlen(name) >= 1024) return false;
  for (const char *part = name; part != NULL; part = strchr(part, '/')) {
    if (*part == '/') part++;
    size_t length = strcspn(part, "/");
    if (length == 0 || (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.')) return false;
  }
  return true;
}

static bool copy_all(int from, int to, uint64_t limit) {
  uint64_t copied = 0;
  for (;;) {
    ssize_t got = sendfile(to, from, NULL, CHUNK_BYTES);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    copied += (uint64_t)got;
    if (copied > limit) {
      errno = EFBIG;
      return false;
    }
  }
}

static bool write_all(int to, const uint8_t *bytes, uint64_t count) {
  while (count > 0) {
    ssize_t put = write(to, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put;
    count -= (uint64_t)put;
  }
  return true;
}

static int create_below(int box, const char *name, mode_t mode) {
  char path[1024];
  snprintf(path, sizeof path, "%s", name);
  for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdirat(box, path, 0755) == 0 && fchownat(box, path, cage.uid, cage.gid, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    *slash = '/';
  }
  int file = openat(box, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (file >= 0) fchmod(file, mode);
  return file;
}

// Shows a path of the host where it is: a read-only mount over an empty file or folder.
bool add_bind(struct stage *stage, struct placed *placed, const char *path) {
  struct shared *shared = stage->shared;
  size_t length = strlen(path) + 1;
  struct stat found;
  if (shared->bind_count >= MAX_BINDS || shared->strings_used + length > ORDER_BYTES || stat(path, &found) != 0) return false;
  // Without namespaces the path itself is named to Landlock.
  int tree = cage.tier == TIER_LANDLOCK ? -1 : clone_tree(path, S_ISDIR(found.st_mode), SEALED);
  if (tree < 0 && cage.tier != TIER_LANDLOCK) return false;
  memcpy(shared->strings + shared->strings_used, path, length);
  shared->strings_used += (uint32_t)length;
  shared->bind_is_folder[shared->bind_count++] = S_ISDIR(found.st_mode);
  if (tree >= 0) placed->mounts[placed->count++] = tree;
  return true;
}

// What we put into the box is not what the program may write there. Without namespaces it is more room in one folder; else a large file
// lies in a memory file system of its own, which init shows read-only under the file's name: in one with what the program writes, the
// program could remove it and write as much instead.
static int create_large(struct stage *stage, const char *name, uint64_t bytes, mode_t mode) {
  struct shared *shared = stage->shared;
  uint64_t all = shared->placed_bytes + (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  char own[32];
  int length = snprintf(NULL, 0, "/box/%s", name) + 1;
  if (cage.tier == TIER_LANDLOCK) {
    shared->placed_bytes = all;
    return create_below(stage->box, name, mode);
  }
  errno = ENOSPC;
  if (shared->bind_count >= MAX_BINDS || shared->strings_used + (uint32_t)length > ORDER_BYTES) return -1;
  if (stage->placed < 0 ? (stage->placed = new_tmpfs(all, 0755)) < 0 : resize_tmpfs(stage->placed, all) != 0) return -1;
  int shown = create_below(stage->box, name, mode);
  if (shown < 0) return -1;
  close(shown);
  shared->placed_bytes = all;
  snprintf(own, sizeof own, "%u", shared->placed_count++);
  snprintf(shared->strings + shared->strings_used, (size_t)length, "/box/%s", name);
  shared->strings_used += (uint32_t)length;
  shared->bind_is_folder[shared->bind_count++] = false;
  return create_below(stage->placed, own, mode);
}

static int create_placed(struct stage *stage, const char *name, uint64_t bytes, bool executable) {
  mode_t mode = executable ? 0555 : 0444;
  return bytes > LARGE_BYTES ? create_large(stage, name, bytes, mode) : create_below(stage->box, name, mode);
}

// Copied, however large: a mount of the file itself would tell its path on the host (/proc/self/mountinfo).
static bool place_path(struct stage *stage, const char *name, const char *path, bool executable) {
  struct stat found;
  int from = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (from < 0) return false;
  bool plain = fstat(from, &found) == 0 && S_ISREG(found.st_mode);
  if (!plain) errno = EINVAL;
  int to = plain ? create_placed(stage, name, (uint64_t)found.st_size, executable) : -1;
  bool done = to >= 0 && copy_all(from, to, UINT64_MAX);
  int kept = errno;
  close(from);
  if (to >= 0) close(to);
  errno = kept;
  return done;
}

static bool place_bytes(struct stage *stage, const char *name, const uint8_t *bytes, uint32_t count, bool executable) {
  int to = create_placed(stage, name, count, executable);
  if (to < 0) return false;
  bool done = write_all(to, bytes, count);
  int kept = errno;
  close(to);
  errno = kept;
  return done;
}

bool place_files(struct stage *stage, struct cursor *order, char *message, size_t room) {
  uint32_t count = take_u32(order);
  bool done = true;
  for (uint32_t i = 0; i < count && !order->bad; i++) {
    char *name = take_string(order);
    uint32_t kind = take_u32(order), length; // 1: executable, 2: bytes
    const uint8_t *bytes = take_bytes(order, &length);
    char *path = strndup((const char *)bytes, kind & 2 ? 0 : length);
    if (done) {
      errno = EINVAL;
      done = good_name(name) && (kind & 2 ? place_bytes(stage, name, bytes, length, kind & 1) : path != NULL && place_path(stage, name, path, kind & 1));
      if (!done) snprintf(message, room, "cannot put %s into the box: %s", name, strerror(errno));
    }
    free(path);
    free(name);
  }
  return done && !order->bad;
}

// Takes a plain file out. It appears under its name whole or not at all, and belongs to the owner of this process.
bool keep_file(const struct stage *stage, const char *name, const char *to, uint64_t limit, char *message, size_t room) {
  struct stat found;
  char partial[PATH_BYTES];
  const char *slash = strrchr(to, '/');
  int folder_length = slash == NULL ? 0 : (int)(slash - to) + 1;
  if (!good_name(name) || snprintf(partial, sizeof partial, "%.*s.%s.%d.partial", folder_length, to, to + folder_length, getpid()) >= PATH_BYTES) {
    snprintf(message, room, "%s cannot be kept: not a good name", name);
    return false;
  }
  int from = open_below(stage->box, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  const char *wrong = from < 0 ? (errno == ENOENT ? "it is not there" : errno == ELOOP ? "it is not a plain file" : strerror(errno))
                      : fstat(from, &found) != 0 || !S_ISREG(found.st_mode) ? "it is not a plain file"
                      : (uint64_t)found.st_size > limit ? "it is too large" : NULL;
  if (wrong == NULL) {
    unlink(partial);
    int file = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, found.st_mode & 0100 ? 0755 : 0644);
    bool done = file >= 0 && copy_all(from, file, limit);
    if (file >= 0 && close(file) != 0) done = false;
    if (!done || rename(partial, to) != 0) {
      wrong = strerror(errno);
      unlink(partial);
    }
  }
  if (from >= 0) close(from);
  if (wrong != NULL) snprintf(message, room, "%s was not kept: %s", name, wrong);
  return wrong == NULL;
}

// By descriptors, so that a link planted meanwhile leads nowhere.
bool remove_folder(int parent, const char *name) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || unlinkat(parent, name, 0) == 0;
  fchmod(fd, 0700);
  DIR *entries = fdopendir(fd);
  if (entries == NULL) return false;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (unlinkat(fd, entry->d_name, 0) != 0 && (errno == EISDIR || errno == EPERM)) remove_folder(fd, entry->d_name);
  }
  closedir(entries);
  return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}
