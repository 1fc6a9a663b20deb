// The box's own user, network, host name: taken once, for all of its runs.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEASES 1024
#define FIRST_UID 1795162112u    // far above what people and services are given
#define FIRST_UID_MAPPED 62000u  // inside a container that maps 65536 users
#define INNER_ID 1000
#define FOLDER_TRIES 16

static void lease_path(char *into, size_t room, int slot) { snprintf(into, room, LEASE_FOLDER "/box-%d.lock", slot); }

// The lock is gone with the process that holds it. Whoever locks a file that was unlinked meanwhile holds nothing.
int lock_slot(int slot) {
  char path[64];
  lease_path(path, sizeof path, slot);
  int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return -1;
  struct stat held, found;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &held) == 0 && stat(path, &found) == 0 && held.st_ino == found.st_ino) {
    // For whoever looks: the lock itself is what counts.
    if (ftruncate(lock, 0) == 0) dprintf(lock, "%d\n", getpid());
    return lock;
  }
  close(lock);
  return -1;
}

void unlock_slot(int slot, int lock) {
  char path[64];
  lease_path(path, sizeof path, slot);
  unlink(path);
  close(lock);
}

// The first line of our own map of users.
struct mapped {
  unsigned inside, outside, count;
};
static struct mapped first_mapped(void) {
  struct mapped found = {0};
  FILE *map = fopen("/proc/self/uid_map", "re");
  if (map == NULL) return found;
  if (fscanf(map, "%u %u %u", &found.inside, &found.outside, &found.count) != 3) found = (struct mapped){0};
  fclose(map);
  return found;
}

static uint32_t first_uid(void) {
  struct mapped map = first_mapped();
  return (uint64_t)map.inside + map.count > (uint64_t)FIRST_UID + LEASES ? FIRST_UID : FIRST_UID_MAPPED;
}

// Who is called root in a user namespace may be anybody outside of it, and has nobody else to run a program as.
static bool is_machine_root(void) {
  struct mapped map = first_mapped();
  return geteuid() == 0 && map.inside == 0 && map.outside == 0;
}

static void lease_uid(void) {
  if (mkdir(LEASE_FOLDER, 0755) != 0 && errno != EEXIST) give_up("cannot make " LEASE_FOLDER);
  struct stat found;
  if (lstat(LEASE_FOLDER, &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != 0 || (found.st_mode & 022) != 0) {
    errno = EPERM;
    give_up(LEASE_FOLDER " is not root's own folder");
  }
  for (int slot = 0; slot < LEASES; slot++) {
    int lock = lock_slot(slot);
    if (lock < 0) continue;
    cage.slot = slot;
    cage.slot_lock = lock;
    cage.uid = cage.gid = first_uid() + (uint32_t)slot;
    return;
  }
  errno = EAGAIN;
  give_up("no free user is left in " LEASE_FOLDER);
}

static void write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, strlen(text)) < 0) give_up(path);
  close(file);
}

// Whoever is outside of a namespace may map any user into it. We stay root, who may read what is to be shown; the box's user is the one
// that was leased: the kernel would take root for root in here too, for whatever only asks who somebody is.
static void map_leased(uid_t leased) {
  int ready[2], status;
  char byte, path[64], text[64];
  if (pipe2(ready, O_CLOEXEC) != 0) give_up("pipe");
  pid_t helper = getpid(), writer = fork();
  if (writer < 0) give_up("fork");
  if (writer == 0) {
    static const char *const MAPS[] = {"uid_map", "gid_map"};
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) _exit(1);
    int length = snprintf(text, sizeof text, "0 0 1\n%d %u 1\n", INNER_ID, leased);
    for (size_t i = 0; i < 2; i++) {
      snprintf(path, sizeof path, "/proc/%d/%s", helper, MAPS[i]);
      int map = open(path, O_WRONLY | O_CLOEXEC);
      if (map < 0 || write(map, text, (size_t)length) != length) _exit(1);
    }
    _exit(0);
  }
  close(ready[0]);
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) give_up("user namespaces are closed");
  bool told = write(ready[1], "k", 1) == 1;
  close(ready[1]);
  if (!told || waitpid(writer, &status, 0) != writer || status != 0) {
    errno = EPERM;
    give_up("a user of its own in a user namespace");
  }
}

static void own_user_namespace(void) {
  if (cage.slot_lock >= 0) {
    map_leased(cage.uid);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) give_up("private mounts");
    cage.uid = cage.gid = INNER_ID;
    return;
  }
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) give_up("user namespaces are closed");
  char text[64];
  write_file("/proc/self/setgroups", "deny");
  snprintf(text, sizeof text, "%d %u 1", INNER_ID, uid);
  write_file("/proc/self/uid_map", text);
  snprintf(text, sizeof text, "%d %u 1", INNER_ID, gid);
  write_file("/proc/self/gid_map", text);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) give_up("private mounts");
  cage.uid = cage.gid = INNER_ID;
}

// Test suites talk to themselves; a judged program has no reason to.
static void loopback_up(void) {
  int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return;
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
  strcpy(request.ifr_name, "lo");
  if (ioctl(any, SIOCSIFFLAGS, &request) != 0) fprintf(stderr, "no loopback: %s\n", strerror(errno));
  close(any);
}

// The names of groups tell of users, sessions and containers. A kernel without groups has none to tell.
void own_cgroup_view(void) {
  if (unshare(CLONE_NEWCGROUP) != 0 && access("/proc/self/cgroup", F_OK) == 0) give_up("a cgroup view of its own");
}

static void own_network(void) {
  if (unshare((cage.host_network ? 0 : CLONE_NEWNET) | CLONE_NEWUTS) != 0) give_up("a network of its own");
  if (cage.cgroup == 0) own_cgroup_view(); // else the starter's, who is in the group where it is to end
  if (sethostname("box", 3) != 0) give_up("a host name of its own");
  if (cage.profile == PROFILE_WORKSPACE && !cage.host_network) loopback_up();
}

// Folders of boxes whose helper was killed: nobody holds their lock any more.
static void sweep_folders(void) {
  DIR *entries = opendir(cage.run_folder);
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    if (strncmp(entry->d_name, "box-", 4) != 0) continue;
    int lock = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) continue;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) remove_folder(dirfd(entries), entry->d_name);
    close(lock);
  }
  if (entries != NULL) closedir(entries);
}

static int box_lock = -1;

static void own_folder(void) {
  sweep_folders();
  char path[PATH_BYTES];
  for (int tries = 0; tries < FOLDER_TRIES; tries++) {
    if (snprintf(path, sizeof path, "%s/box-XXXXXX", cage.run_folder) >= PATH_BYTES || mkdtemp(path) == NULL) give_up(cage.run_folder);
    box_lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (box_lock < 0 || flock(box_lock, LOCK_EX | LOCK_NB) != 0 || access(path, F_OK) != 0) continue;
    if (cage.slot_lock >= 0 && chmod(path, 0711) != 0) give_up(path);
    cage.box_folder = strdup(path);
    return;
  }
  give_up("a folder of its own");
}

void stand_on_ground(enum tier wanted) {
  cage.tier = wanted;
  cage.uid = geteuid();
  cage.gid = getegid();
  cage.slot_lock = -1;
  cage.owned_by_root = geteuid() == 0;
  // In a user namespace the files of a working folder can be shown as nobody's but their owner's: only what is judged has a user of its own.
  if (wanted == TIER_USER ? is_machine_root() && cage.profile == PROFILE_JUDGE : cage.owned_by_root) lease_uid();
  if (wanted == TIER_ROOT) cgroup_open();
  if (wanted == TIER_USER) own_user_namespace();
  cage.landlock_abi = landlock_version();
  if (wanted != TIER_LANDLOCK) return own_network();
  own_folder();
  // What a first process leaves behind when it dies comes to us: stage_close ends it.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) give_up("subreaper");
}

// What would stay behind otherwise.
void leave_ground(void) {
  cgroup_close();
  let_go_of_names();
  if (cage.box_folder != NULL) {
    int parent = open(cage.run_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent >= 0) remove_folder(parent, cage.box_folder + strlen(cage.run_folder) + 1);
    if (parent >= 0) close(parent);
  }
  if (cage.slot_lock >= 0) unlock_slot(cage.slot, cage.slot_lock);
  cage.slot_lock = -1;
}
