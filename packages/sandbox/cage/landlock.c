// Where namespaces are closed: which files may be read and written, by Landlock. Everything not named here is out of reach.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's interface grows by version; these are its words up to version 6, whatever headers this machine has.
#define RIGHT_EXECUTE (1ull << 0)
#define RIGHT_WRITE_FILE (1ull << 1)
#define RIGHT_READ_FILE (1ull << 2)
#define RIGHT_READ_DIR (1ull << 3)
#define RIGHTS_1 ((1ull << 13) - 1)
#define RIGHT_REFER (1ull << 13)
#define RIGHT_TRUNCATE (1ull << 14)
#define RIGHT_IOCTL_DEV (1ull << 15)
#define RIGHTS_NET 3ull
#define SCOPE_ALL 3ull // abstract sockets and signals
#define RULE_PATH_BENEATH 1

struct ruleset {
  uint64_t files, net, scoped;
};
struct beneath {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

static const char *const SYSTEM[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
  // What is not there is no hindrance to a program, what is refused is: these are settings that Node and others insist on reading.
  "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies"};
// Names cannot be made up here, so programs that work in a folder get the machine's.
static const char *const NAMES[] = {"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"};
static const char *const DEVICES[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

int landlock_version(void) { return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1); }

static uint64_t all_rights(int version) {
  uint64_t rights = RIGHTS_1;
  if (version >= 2) rights |= RIGHT_REFER;
  if (version >= 3) rights |= RIGHT_TRUNCATE;
  if (version >= 5) rights |= RIGHT_IOCTL_DEV;
  return rights;
}

static bool allow(int ruleset, int parent, uint64_t rights) {
  struct stat found;
  if (parent < 0) return false;
  // The kernel refuses rights over folders on what is none.
  if (fstat(parent, &found) == 0 && !S_ISDIR(found.st_mode)) rights &= RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV;
  struct beneath rule = {.allowed = rights, .parent = parent};
  return syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0;
}

static void allow_path(int ruleset, const char *path, uint64_t rights) {
  int parent = open(path, O_PATH | O_CLOEXEC);
  if (parent < 0) return;
  allow(ruleset, parent, rights);
  close(parent);
}

// The same as open_unlinked, part by part: the filter is in place already and refuses openat2.
static int walk_unlinked(const char *path) {
  char part[PATH_BYTES];
  int at = open("/", O_PATH | O_CLOEXEC);
  for (size_t length; at >= 0 && *(path += strspn(path, "/")) != 0; path += length) {
    length = strcspn(path, "/");
    snprintf(part, sizeof part, "%.*s", (int)length, path);
    struct stat found;
    int next = openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    close(at);
    at = next;
    if (at < 0 || (fstat(at, &found) == 0 && !S_ISLNK(found.st_mode))) continue;
    close(at);
    return -1;
  }
  return at;
}

// Of a path that was resolved before we heard of it: a link on it was put there since.
static void allow_settled(int ruleset, const char *path, uint64_t rights) {
  int parent = walk_unlinked(path);
  if (parent < 0) return;
  allow(ruleset, parent, rights);
  close(parent);
}

static const uint64_t READING = RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR;
static void allow_setting(void *ruleset, const char *path) { allow_path(*(int *)ruleset, path, READING); }

// Called when the order is here, since it names paths too.
bool landlock_install(const struct stage *stage) {
  int version = cage.landlock_abi;
  if (version < 1) {
    errno = ENOSYS;
    return false;
  }
  uint64_t rights = all_rights(version), reading = READING;
  struct ruleset wanted = {.files = rights, .net = version >= 4 ? RIGHTS_NET : 0, .scoped = version >= 6 ? SCOPE_ALL : 0};
  size_t size = version >= 6 ? sizeof wanted : version >= 4 ? 16 : 8;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &wanted, size, 0);
  if (ruleset < 0) return false;
  for (size_t i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++) allow_path(ruleset, SYSTEM[i], reading);
  settings_each(allow_setting, &ruleset);
  for (size_t i = 0; i < sizeof DEVICES / sizeof *DEVICES; i++) allow_path(ruleset, DEVICES[i], RIGHT_READ_FILE | RIGHT_WRITE_FILE);
  void (*allow_readable)(int, const char *, uint64_t) = cage.profile == PROFILE_WORKSPACE ? allow_settled : allow_path;
  for (uint32_t i = 0; i < cage.readable.count; i++) allow_readable(ruleset, cage.readable.at[i], reading);
  const char *at = stage->shared->strings;
  for (uint32_t i = 0; i < stage->shared->bind_count; i++, at += strlen(at) + 1) allow_path(ruleset, at, reading);
  if (cage.profile == PROFILE_WORKSPACE) {
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) allow_path(ruleset, NAMES[i], reading);
    // Only ever to read: rights given for a folder hold for all of it, and its repository must not be written.
    allow_settled(ruleset, cage.folder, reading);
  }
  bool done = allow(ruleset, stage->box, rights) && allow(ruleset, stage->tmp, rights) && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return done;
}
