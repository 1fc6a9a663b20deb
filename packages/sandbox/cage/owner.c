// A folder's files as those of the box's user, whoever owns them on the host.
#include "cage.h"
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_map(pid_t pid, const char *which, unsigned there, unsigned here) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, which);
  int length = snprintf(text, sizeof text, "%u %u 1", there, here);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, (size_t)length) != length) give_up("mapping of users");
  close(file);
}

// A user namespace that says: who owns the folder there is the box's user here.
static int owner_as_box(const struct stat *owner) {
  int ready[2];
  char byte;
  if (pipe2(ready, O_CLOEXEC) != 0) give_up("pipe");
  pid_t child = fork();
  if (child == 0) {
    bool done = unshare(CLONE_NEWUSER) == 0 && write(ready[1], "k", 1) == 1;
    if (done) pause();
    _exit(1);
  }
  close(ready[1]);
  int space = -1;
  if (child > 0 && read(ready[0], &byte, 1) == 1) {
    write_map(child, "uid_map", owner->st_uid, cage.uid);
    write_map(child, "gid_map", owner->st_gid, cage.gid);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/user", child);
    space = open(path, O_RDONLY | O_CLOEXEC);
  }
  close(ready[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  return space;
}

// A folder's files as the box's user's, as seen from inside; false where the file system cannot do so.
static bool show_as_box(int tree, const struct stat *owner) {
  struct mount_attr mapped = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)owner_as_box(owner)};
  bool done = syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &mapped, sizeof mapped) == 0;
  close((int)mapped.userns_fd);
  return done;
}

// A copy of what is mounted at an open folder, not yet anywhere, that the box's user may use as its owner may.
int show_as_owner(const char *path, int opened, uint64_t attributes) {
  struct stat owner;
  if (fstat(opened, &owner) != 0 || !S_ISDIR(owner.st_mode)) give_up(path);
  int tree = clone_open(opened, attributes);
  if (tree < 0) give_up(path);
  if (cage.slot_lock < 0 || show_as_box(tree, &owner)) return tree;
  // A file system that cannot do so: the box runs as the folder's owner, who must then not be root.
  if (owner.st_uid == 0) give_up("the folder belongs to root on a file system that cannot show it as another user's");
  cage.uid = owner.st_uid;
  cage.gid = owner.st_gid;
  return tree;
}
