// Mounts by descriptor: made in one namespace, put into another.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Empty files take no room that the size counts: their number needs a bound of its own.
#define TMPFS_INODES "65536"
#ifndef MS_PRIVATE
#define MS_PRIVATE (1 << 18)
#endif

static int configure(int fs, unsigned command, const char *key, const char *value) {
  return (int)syscall(SYS_fsconfig, fs, command, key, value, 0);
}

// A memory file system of its own, not yet anywhere. Its descriptor serves as a folder and keeps it alive.
int new_tmpfs(uint64_t bytes, mode_t mode) {
  int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
  if (fs < 0) return -1;
  char size[32], bits[16];
  snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  snprintf(bits, sizeof bits, "%o", mode);
  int mount = -1;
  if (configure(fs, FSCONFIG_SET_STRING, "size", size) == 0 && configure(fs, FSCONFIG_SET_STRING, "mode", bits) == 0 &&
      configure(fs, FSCONFIG_SET_STRING, "nr_inodes", TMPFS_INODES) == 0 && configure(fs, FSCONFIG_CMD_CREATE, NULL, NULL) == 0)
    mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  int kept = errno;
  close(fs);
  errno = kept;
  return mount;
}

int resize_tmpfs(int mount, uint64_t bytes) {
  int fs = (int)syscall(SYS_fspick, mount, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
  if (fs < 0) return -1;
  char size[32];
  snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  int result = configure(fs, FSCONFIG_SET_STRING, "size", size);
  if (result == 0) result = configure(fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL);
  close(fs);
  return result;
}

// Without following any link: one that somebody put in the way would lead to another place than the one that was meant.
int open_unlinked(const char *path) {
  struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

// A copy of what is mounted at a path or, with an empty one, at what is open, with attributes such as read-only, not yet anywhere.
static int clone_from(int from, const char *path, bool recursive, uint64_t attributes) {
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (recursive ? AT_RECURSIVE : 0) | (*path == 0 ? AT_EMPTY_PATH : 0);
  int tree = (int)syscall(SYS_open_tree, from, path, flags);
  if (tree < 0) return -1;
  struct mount_attr wanted = {.attr_set = attributes, .propagation = MS_PRIVATE};
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &wanted, sizeof wanted) != 0) {
    int kept = errno;
    close(tree);
    errno = kept;
    return -1;
  }
  return tree;
}

int clone_tree(const char *path, bool recursive, uint64_t attributes) { return clone_from(AT_FDCWD, path, recursive, attributes); }

int clone_open(int opened, uint64_t attributes) { return clone_from(opened, "", true, attributes); }

int put_mount(int mount, const char *at) {
  return (int)syscall(SYS_move_mount, mount, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH);
}

int set_mount(const char *at, uint64_t set, uint64_t clear) {
  struct mount_attr wanted = {.attr_set = set, .attr_clr = clear};
  return (int)syscall(SYS_mount_setattr, AT_FDCWD, at, 0, &wanted, sizeof wanted);
}

// Every folder on the way to a path, and the path.
int make_folders(const char *path) {
  char so_far[PATH_BYTES];
  size_t length = strlen(path);
  if (length >= sizeof so_far) return -1;
  for (size_t i = 1; i <= length; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    memcpy(so_far, path, i);
    so_far[i] = 0;
    if (mkdir(so_far, 0755) != 0 && errno != EEXIST) {
      struct stat found;
      if (stat(so_far, &found) != 0 || !S_ISDIR(found.st_mode)) return -1;
    }
  }
  return 0;
}

// Something to mount on, unless it is there already.
int make_target(const char *path, bool folder) {
  struct stat found;
  if (stat(path, &found) == 0) return S_ISDIR(found.st_mode) == folder ? 0 : -1;
  if (folder) return make_folders(path);
  char parent[PATH_BYTES];
  snprintf(parent, sizeof parent, "%s", path);
  char *slash = strrchr(parent, '/');
  if (slash != NULL && slash != parent) {
    *slash = 0;
    if (make_folders(parent) != 0) return -1;
  }
  int made = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
  if (made < 0) return -1;
  close(made);
  return 0;
}
