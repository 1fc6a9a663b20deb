// What programs find in /etc: a list of what they need, and names of nobody but themselves.
#include "cage.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPIED_BYTES (4 << 20)

static const char *const FOR_ALL[] = {"/etc/ld.so.cache", "/etc/localtime", NULL};
// Copied when the box is made; no profile, which would have shells forget the PATH that they were given. What only its owner may read on the host is left out.
static const char *const FOR_WORK[] = {
  "/etc/ld.so.conf", "/etc/timezone", "/etc/locale.conf", "/etc/locale.alias", "/etc/os-release", "/etc/lsb-release", "/etc/debian_version",
  "/etc/mime.types", "/etc/protocols", "/etc/services", "/etc/shells", "/etc/inputrc", "/etc/bash.bashrc", "/etc/bashrc",
  "/etc/gitconfig", "/etc/ca-certificates.conf", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", NULL,
};
// Where the network is the host's, its names are looked up as the host does.
static const char *const FOR_NETWORK[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/host.conf", NULL};
// Folders are shown as they are.
static const char *const FOLDERS_FOR_ALL[] = {"/etc/alternatives", NULL};
static const char *const FOLDERS_FOR_WORK[] = {
  "/etc/ld.so.conf.d", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/fonts",
  "/etc/perl", "/etc/terminfo", NULL,
};

static void inside(char *into, const char *root, const char *path) {
  if (snprintf(into, PATH_BYTES, "%s%s", root, path) >= PATH_BYTES) give_up("a path is too long");
}

static void write_text(const char *root, const char *path, const char *text, size_t length) {
  char at[PATH_BYTES];
  inside(at, root, path);
  if (make_target(at, false) != 0) give_up(path);
  // Whoever makes the box may be root, whose files can be written whatever their mode, or an ordinary user.
  if (chmod(at, 0644) != 0) give_up(path);
  int file = open(at, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 || write(file, text, length) != (ssize_t)length || fchmod(file, 0444) != 0) give_up(path);
  close(file);
}

// A link is followed: of resolv.conf and the like the text is wanted, wherever it lies.
static void copy_file(const char *root, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return;
  struct stat found;
  if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & S_IROTH) != 0 && found.st_size <= COPIED_BYTES) {
    char *bytes = malloc((size_t)found.st_size + 1);
    ssize_t got = bytes == NULL ? -1 : read(file, bytes, (size_t)found.st_size);
    if (got > 0) write_text(root, path, bytes, (size_t)got);
    free(bytes);
  }
  close(file);
}

static void copy_files(const char *root, const char *const *paths) {
  for (; *paths != NULL; paths++) copy_file(root, *paths);
}

static void show_folder(const char *root, const char *path) {
  struct stat found;
  if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)) return;
  if (bind_inside(root, path, SEALED) != 0) give_up(path);
}

// Calls `each` for every folder of settings that is called as a version of Java or Python is.
static void each_version(void (*each)(void *with, const char *path), void *with) {
  DIR *etc = opendir("/etc");
  for (struct dirent *entry; etc != NULL && (entry = readdir(etc)) != NULL;) {
    bool java = strncmp(entry->d_name, "java-", 5) == 0, python = cage.profile == PROFILE_WORKSPACE && strncmp(entry->d_name, "python3", 7) == 0;
    if (!java && !python) continue;
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/etc/%s", entry->d_name);
    each(with, path);
  }
  if (etc != NULL) closedir(etc);
}

static void show_version(void *root, const char *path) { show_folder(root, path); }

void settings_tree(const char *root) {
  char text[256];
  // Agents take the shell that their user has, and what models write is mostly for bash.
  const char *shell = cage.profile == PROFILE_WORKSPACE && access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
  size_t length = (size_t)snprintf(text, sizeof text, "root:x:0:0::/:/bin/false\nbox:x:%u:%u::/box:%s\n", cage.uid, cage.gid, shell);
  write_text(root, "/etc/passwd", text, length);
  length = (size_t)snprintf(text, sizeof text, "root:x:0:\nbox:x:%u:\n", cage.gid);
  write_text(root, "/etc/group", text, length);
  write_text(root, "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n", 41);
  write_text(root, "/etc/hosts", "127.0.0.1 localhost box\n", 24);
  copy_files(root, FOR_ALL);
  for (const char *const *path = FOLDERS_FOR_ALL; *path != NULL; path++) show_folder(root, *path);
  each_version(show_version, (void *)root);
  if (cage.profile != PROFILE_WORKSPACE) return;
  copy_files(root, FOR_WORK);
  if (cage.host_network) copy_files(root, FOR_NETWORK);
  for (const char *const *path = FOLDERS_FOR_WORK; *path != NULL; path++) show_folder(root, *path);
}

// The same list, for a tier that can only say what may be read where it lies.
void settings_each(void (*each)(void *with, const char *path), void *with) {
  static const char *const *const ALWAYS[] = {FOR_ALL, FOLDERS_FOR_ALL}, *const *const AT_WORK[] = {FOR_WORK, FOLDERS_FOR_WORK};
  for (size_t i = 0; i < 2; i++)
    for (const char *const *path = ALWAYS[i]; *path != NULL; path++) each(with, *path);
  each_version(each, with);
  if (cage.profile != PROFILE_WORKSPACE) return;
  for (size_t i = 0; i < 2; i++)
    for (const char *const *path = AT_WORK[i]; *path != NULL; path++) each(with, *path);
  for (const char *const *path = FOR_NETWORK; cage.host_network && *path != NULL; path++) each(with, *path);
}
