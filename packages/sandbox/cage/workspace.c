// The root of the workspace profile: the system as it is, read-only, without homes and what is hidden, and one folder to work in.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EMPTY_BYTES 4096

static const char *const LEFT_OUT[] = {".", "..", "proc", "sys", "dev", "tmp", "box", "home", "root", "run", "mnt", "media", "lost+found"};

static int folder_tree = -1, writable_trees[MAX_LIST];

static bool left_out(const char *name) {
  for (size_t i = 0; i < sizeof LEFT_OUT / sizeof *LEFT_OUT; i++)
    if (strcmp(name, LEFT_OUT[i]) == 0) return true;
  return false;
}

static bool is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static void join(char *into, const char *root, const char *path) {
  if (snprintf(into, PATH_BYTES, "%s%s", root, path) >= PATH_BYTES) give_up("a path is too long");
}

// An empty place over a folder, an empty file over a file.
static void hide(const char *root, const char *path) {
  char at[PATH_BYTES];
  struct stat found;
  join(at, root, path);
  if (lstat(at, &found) != 0 || S_ISLNK(found.st_mode)) return;
  int over = S_ISDIR(found.st_mode) ? new_tmpfs(EMPTY_BYTES, 0755) : clone_tree("/dev/null", false, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  if (over < 0 || put_mount(over, at) != 0) give_up(path);
  close(over);
}

// What is shown again inside of an empty place needs names there first: it is read-only only after that.
static void shut_hidden(const char *root, const char *path) {
  char at[PATH_BYTES];
  struct stat found;
  join(at, root, path);
  if (lstat(at, &found) != 0 || S_ISLNK(found.st_mode)) return;
  // One that lay inside of another is gone with it, and what has its name now is no mount.
  if (set_mount(at, MOUNT_ATTR_RDONLY, 0) != 0 && errno != EINVAL) give_up(path);
}

void workspace_tree(const char *root) {
  DIR *entries = opendir("/");
  if (entries == NULL) give_up("/");
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    char path[300];
    if (left_out(entry->d_name)) continue;
    snprintf(path, sizeof path, "/%s", entry->d_name);
    system_path(root, path);
  }
  closedir(entries);
  hide(root, cage.run_folder);
  for (uint32_t i = 0; i < cage.hidden.count; i++) hide(root, cage.hidden.at[i]);
}

static void seal(const char *path, uint64_t attributes) {
  int tree = clone_tree(path, true, attributes);
  if (tree < 0 || put_mount(tree, path) != 0) give_up(path);
  close(tree);
}

// Hooks, and programs that the configuration names, run with the rights of whoever uses the repository next. The folder of the
// repository is a mount of its own, which cannot be moved away to make room for another.
static void seal_repository(const char *at) {
  char path[PATH_BYTES];
  struct stat found;
  join(path, at, "/.git");
  if (lstat(path, &found) != 0 || !S_ISDIR(found.st_mode)) return;
  seal(path, LOOSE);
  join(path, at, "/.git/config");
  if (lstat(path, &found) == 0 && S_ISREG(found.st_mode)) seal(path, SEALED);
  join(path, at, "/.git/hooks");
  if (lstat(path, &found) != 0 && (mkdir(path, 0755) != 0 || lstat(path, &found) != 0)) give_up(path);
  if (!S_ISDIR(found.st_mode)) give_up(path);
  seal(path, SEALED);
}

void workspace_folder(const char *root) {
  char at[PATH_BYTES];
  join(at, root, cage.folder);
  if (make_target(at, true) != 0 || put_mount(folder_tree, at) != 0) give_up(cage.folder);
  if (cage.folder_writable) seal_repository(at);
  for (uint32_t i = 0; i < cage.writable.count; i++) {
    join(at, root, cage.writable.at[i]);
    if (make_target(at, true) != 0 || put_mount(writable_trees[i], at) != 0) give_up(cage.writable.at[i]);
  }
  for (uint32_t i = 0; i < cage.hidden.count; i++)
    if (is_below(cage.hidden.at[i], cage.folder)) hide(root, cage.hidden.at[i]);
  shut_hidden(root, cage.run_folder);
  for (uint32_t i = 0; i < cage.hidden.count; i++) shut_hidden(root, cage.hidden.at[i]);
}

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

static int open_folder(const char *path, uint64_t attributes) {
  struct stat owner;
  if (stat(path, &owner) != 0 || !S_ISDIR(owner.st_mode)) give_up(path);
  int tree = clone_tree(path, true, attributes);
  if (tree < 0) give_up(path);
  if (cage.slot_lock < 0 || show_as_box(tree, &owner)) return tree;
  // A file system that cannot do so: the box runs as the folder's owner, who must then not be root.
  if (owner.st_uid == 0) give_up("the folder belongs to root on a file system that cannot show it as another user's");
  cage.uid = owner.st_uid;
  cage.gid = owner.st_gid;
  return tree;
}

// Before the tree is built, while the host's files are still where they are.
void workspace_open_folder(void) {
  folder_tree = open_folder(cage.folder, cage.folder_writable ? LOOSE : SEALED);
  for (uint32_t i = 0; i < cage.writable.count; i++) writable_trees[i] = open_folder(cage.writable.at[i], LOOSE);
}
