// The run's own /proc: processes, and of what it tells of the machine a list.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define EMPTY_BYTES 4096

// What tools count processors and memory by, and what belongs to the box's own namespaces. The rest tells of the kernel's command line, keys,
// locks, disks, interrupts and more of the whole machine.
static const char *const TOLD[] = {
  "cgroups", "cpuinfo", "filesystems", "loadavg", "meminfo", "mounts", "net", "self", "stat", "sys", "sysvipc", "thread-self", "uptime", "version", "vmstat",
};

static bool is_told(const char *name) {
  if (name[0] == '.' || (name[0] >= '1' && name[0] <= '9')) return true;
  for (size_t i = 0; i < sizeof TOLD / sizeof *TOLD; i++)
    if (strcmp(name, TOLD[i]) == 0) return true;
  return false;
}

// A device where there are none cannot be opened, to read or to write.
static bool cover(const char *path, bool folder) {
  int over = folder ? new_tmpfs(EMPTY_BYTES, 0555) : clone_tree("/dev/null", false, SEALED | MOUNT_ATTR_NOEXEC);
  if (over < 0) return false;
  bool done = put_mount(over, path) == 0 && (!folder || set_mount(path, SEALED | MOUNT_ATTR_NOEXEC, 0) == 0);
  close(over);
  return done;
}

static bool cover_rest(void) {
  DIR *entries = opendir("/proc");
  bool done = entries != NULL;
  for (struct dirent *entry; done && (entry = readdir(entries)) != NULL;) {
    char path[300];
    struct stat found;
    if (is_told(entry->d_name)) continue;
    snprintf(path, sizeof path, "/proc/%s", entry->d_name);
    if (lstat(path, &found) == 0 && !S_ISLNK(found.st_mode)) done = cover(path, S_ISDIR(found.st_mode));
  }
  if (entries != NULL) closedir(entries);
  return done;
}

bool own_proc(void) {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  // Only processes, and only its own, where the kernel can say so. The kernel takes root for root in whatever user namespace, and its settings
  // are root's to read and to write.
  bool narrow = cage.profile == PROFILE_JUDGE || (cage.tier == TIER_USER && cage.owned_by_root);
  if (narrow && mount("proc", "/proc", "proc", flags, "hidepid=invisible,subset=pid") == 0) return true;
  bool mounted = mount("proc", "/proc", "proc", flags, "hidepid=invisible") == 0 || mount("proc", "/proc", "proc", flags, "hidepid=2") == 0;
  return mounted && cover_rest();
}
