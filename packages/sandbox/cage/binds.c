// What one run finds in its tree besides what all do: mounts that the helper made, put where its order says.
#include "cage.h"
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Large files of the box, each over an empty one of its name: what is mounted read-only cannot be removed, replaced or written.
static const char *bind_placed(const struct shared *shared, int placed, const char **at) {
  char own[32];
  if (put_mount(placed, PLACED_AT) != 0 || set_mount(PLACED_AT, SEALED, 0) != 0) return PLACED_AT;
  close(placed);
  for (uint32_t i = 0; i < shared->placed_count; i++) {
    snprintf(own, sizeof own, PLACED_AT "/%u", i);
    int tree = clone_tree(own, false, SEALED);
    if (tree < 0 || put_mount(tree, *at) != 0) return *at;
    close(tree);
    *at += strlen(*at) + 1;
  }
  return NULL;
}

// Paths of the host. The root is read-only but while their targets are made.
static const char *bind_readable(const struct shared *shared, const int *fds, const char *at) {
  if (set_mount("/", 0, MOUNT_ATTR_RDONLY) != 0) return "root";
  for (uint32_t i = shared->placed_count; i < shared->bind_count; i++) {
    if (make_target(at, shared->bind_is_folder[i]) != 0 || put_mount(*fds, at) != 0) return at;
    close(*fds++);
    at += strlen(at) + 1;
  }
  return set_mount("/", MOUNT_ATTR_RDONLY, 0) == 0 ? NULL : "root";
}

// Null, or what could not be put in its place.
const char *bind_all(const struct shared *shared, const int *fds, uint32_t count) {
  const char *at = shared->strings, *failed = NULL;
  uint32_t readable = shared->bind_count - shared->placed_count;
  if (count != readable + (shared->placed_count > 0 ? 1 : 0)) return "binds";
  if (shared->placed_count > 0) failed = bind_placed(shared, *fds++, &at);
  return failed != NULL || readable == 0 ? failed : bind_readable(shared, fds, at);
}
