// The private root: a small read-only tree that every run starts from. Few mounts, since each run's namespace copies them all.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOT_BYTES (16u << 20)

static const char *const SYSTEM[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
static const struct {
  const char *path;
  unsigned minor;
} DEVICES[] = {{"/dev/null", 3}, {"/dev/zero", 5}, {"/dev/full", 7}, {"/dev/random", 8}, {"/dev/urandom", 9}};
static const char *const LINKS[][2] = {
  {"/proc/self/fd", "/dev/fd"}, {"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"},
  {"/proc/self/fd/2", "/dev/stderr"},
};
// Names of the run's own folder for temporary files, unless something in them is shown. They come last: what is put into the tree while
// it is built must find no link out of it.
static const char *const ALSO_TMP[] = {"/dev/shm", "/var/tmp"};

static void inside(char *into, const char *root, const char *path) {
  if (snprintf(into, PATH_BYTES, "%s%s", root, path) >= PATH_BYTES) give_up("a path is too long");
}

// Puts a copy of the host's path at the same path below the root. A path that is not there is left out.
int bind_inside(const char *root, const char *path, uint64_t attributes) {
  struct stat found;
  if (stat(path, &found) != 0) return 0;
  char at[PATH_BYTES];
  inside(at, root, path);
  int tree = clone_tree(path, true, attributes);
  if (tree < 0) return -1;
  int result = make_target(at, S_ISDIR(found.st_mode)) == 0 ? put_mount(tree, at) : -1;
  int kept = errno;
  close(tree);
  errno = kept;
  return result;
}

// A link stays a link, anything else is bound read-only.
static void system_path(const char *root, const char *path) {
  struct stat found;
  char target[PATH_BYTES], at[PATH_BYTES];
  if (lstat(path, &found) != 0) return;
  if (!S_ISLNK(found.st_mode)) {
    if (bind_inside(root, path, SEALED) != 0) give_up(path);
    return;
  }
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) give_up(path);
  target[length] = 0;
  inside(at, root, path);
  if (symlink(target, at) != 0) give_up(path);
}

static void devices(const char *root) {
  char at[PATH_BYTES];
  inside(at, root, "/dev");
  if (make_folders(at) != 0) give_up("/dev");
  for (size_t i = 0; i < sizeof DEVICES / sizeof *DEVICES; i++) {
    inside(at, root, DEVICES[i].path);
    if (cage.tier == TIER_ROOT && mknod(at, S_IFCHR | 0666, makedev(1, DEVICES[i].minor)) == 0 && chmod(at, 0666) == 0) continue;
    // The host's own: read-only, it can still be written to, and its mode, owner and times cannot be changed.
    if (bind_inside(root, DEVICES[i].path, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC) != 0) give_up(DEVICES[i].path);
  }
  for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++) {
    inside(at, root, LINKS[i][1]);
    if (symlink(LINKS[i][0], at) != 0) give_up(LINKS[i][1]);
  }
}

// The system's folders and settings, which both profiles begin with.
static void system_tree(const char *root) {
  char at[PATH_BYTES];
  inside(at, root, "/etc");
  if (make_folders(at) != 0) give_up("/etc");
  for (size_t i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++) system_path(root, SYSTEM[i]);
  settings_tree(root);
}

static void temporary_links(const char *root) {
  char at[PATH_BYTES];
  inside(at, root, "/var");
  if (make_folders(at) != 0) give_up("/var");
  for (size_t i = 0; i < sizeof ALSO_TMP / sizeof *ALSO_TMP; i++) {
    inside(at, root, ALSO_TMP[i]);
    if (symlink("/tmp", at) != 0 && errno != EEXIST) give_up(ALSO_TMP[i]);
  }
}

static void build(void) {
  umask(0022);
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) give_up("private mounts");
  const char *root = ROOT_AT;
  int mounted = new_tmpfs(ROOT_BYTES, 0755);
  if (mounted < 0 || put_mount(mounted, root) != 0) give_up("a root of its own");
  if (cage.tier == TIER_ROOT && set_mount(root, 0, MOUNT_ATTR_NODEV) != 0) give_up("devices");
  static const char *const FOLDERS[] = {"/proc", "/tmp", "/box", PLACED_AT};
  char at[PATH_BYTES];
  for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
    inside(at, root, FOLDERS[i]);
    if (make_folders(at) != 0) give_up(FOLDERS[i]);
  }
  devices(root);
  // Without root, the kernel lets a namespace mount its own /proc only where a whole one is in sight. Each run covers this one.
  if (cage.tier == TIER_USER && bind_inside(root, "/proc", LOOSE) != 0) give_up("/proc");
  system_tree(root);
  if (cage.profile == PROFILE_WORKSPACE) workspace_tree(root);
  for (uint32_t i = 0; cage.profile == PROFILE_JUDGE && i < cage.readable.count; i++)
    if (bind_inside(root, cage.readable.at[i], SEALED) != 0) give_up(cage.readable.at[i]);
  temporary_links(root);
  if (set_mount(root, MOUNT_ATTR_RDONLY, 0) != 0) give_up("read-only root");
  if (chdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) give_up("pivot");
}

// A child builds the tree in a mount namespace of its own; we keep the namespace and stay where the host's files are.
void skeleton_open(void) {
  if (cage.profile == PROFILE_WORKSPACE) workspace_open();
  int built[2], taken[2];
  if (pipe2(built, O_CLOEXEC) != 0 || pipe2(taken, O_CLOEXEC) != 0) give_up("pipe");
  pid_t builder = fork();
  if (builder < 0) give_up("fork");
  char byte = 0;
  if (builder == 0) {
    cage.slot_lock = -1;
    cage.cgroup = 0;
    close(built[0]);
    close(taken[1]);
    build();
    if (write(built[1], "k", 1) != 1) _exit(1);
    _exit(read(taken[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(built[1]);
  close(taken[0]);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", builder);
  if (read(built[0], &byte, 1) != 1) {
    // The builder has said why.
    leave_ground();
    _exit(1);
  }
  cage.skeleton = open(path, O_RDONLY | O_CLOEXEC);
  if (cage.skeleton < 0) give_up(path);
  close(built[0]);
  close(taken[1]);
  waitpid(builder, NULL, 0);
}
