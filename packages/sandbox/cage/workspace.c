// The root of the workspace profile: the system's folders, and of all other files of the host only those that are named. What lies deeper
// decides: a hidden folder in one that is shown is empty, and what is shown in a hidden one is there.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EMPTY_BYTES 65536
#define MAX_PLACES (3 * MAX_LIST + 2)

// In the order in which they are put at one path: what is hidden covers what is shown.
enum kind { SHOWN, WORKED_IN, HIDDEN };

static struct place {
  const char *path;
  enum kind kind;
  bool writable, covered;
  int tree;
} places[MAX_PLACES];
static uint32_t place_count;

bool is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static void join(char *into, const char *root, const char *path) {
  if (snprintf(into, PATH_BYTES, "%s%s", root, path) >= PATH_BYTES) give_up("a path is too long");
}

static void add_place(const char *path, enum kind kind, bool writable) {
  if (place_count == MAX_PLACES) give_up("too many paths");
  int tree = kind == WORKED_IN ? show_as_owner(path, writable ? LOOSE : SEALED) : -1;
  places[place_count++] = (struct place){.path = path, .kind = kind, .writable = writable, .tree = tree};
}

// What is above comes first.
static int by_path(const void *one, const void *two) {
  const struct place *a = one, *b = two;
  int order = strcmp(a->path, b->path);
  return order != 0 ? order : (int)a->kind - (int)b->kind;
}

// Before the tree is built, while the host's files are still where they are.
void workspace_open(void) {
  if (cage.folder_writable) placeholder_open(cage.folder);
  add_place(cage.folder, WORKED_IN, cage.folder_writable);
  for (uint32_t i = 0; i < cage.writable.count; i++) add_place(cage.writable.at[i], WORKED_IN, true);
  for (uint32_t i = 0; i < cage.readable.count; i++) add_place(cage.readable.at[i], SHOWN, false);
  for (uint32_t i = 0; i < cage.hidden.count; i++) add_place(cage.hidden.at[i], HIDDEN, false);
  add_place(cage.run_folder, HIDDEN, false);
  qsort(places, place_count, sizeof *places, by_path);
}

// A link that somebody put in the way would have us cover another place.
static int open_unlinked(const char *at) {
  struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, at, &how, sizeof how);
}

static int put_on(int mount, int target) {
  return (int)syscall(SYS_move_mount, mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

// A mount of what is there already, which can then neither be moved away nor be replaced.
static void seal(const char *at, uint64_t attributes) {
  int target = open_unlinked(at), tree = target < 0 ? -1 : clone_tree(at, true, attributes);
  if (tree < 0 || put_on(tree, target) != 0) give_up(at + strlen(ROOT_AT));
  close(tree);
  close(target);
}

// The folder to write in of which a path is a part; null where something else is in between.
static const struct place *writable_above(const char *path) {
  const struct place *nearest = NULL;
  for (uint32_t i = 0; i < place_count; i++)
    if (is_below(path, places[i].path)) nearest = &places[i];
  return nearest != NULL && nearest->writable ? nearest : NULL;
}

// Whoever may move a folder away could put another at its path, and the next box would cover that one.
static void pin(const char *root, const char *path) {
  const struct place *above = writable_above(path);
  char part[PATH_BYTES], at[PATH_BYTES];
  for (size_t i = above == NULL ? strlen(path) : strlen(above->path) + 1; path[i] != 0; i++) {
    if (path[i] != '/') continue;
    memcpy(part, path, i);
    part[i] = 0;
    join(at, root, part);
    seal(at, LOOSE);
  }
}

// An empty place over a folder, an empty file over a file. What is not in sight needs no cover.
static void hide(const char *root, struct place *place) {
  char at[PATH_BYTES];
  struct stat found;
  join(at, root, place->path);
  int target = open_unlinked(at);
  if (target < 0 && (errno == ENOENT || errno == ENOTDIR)) return;
  if (target < 0 || fstat(target, &found) != 0 || S_ISLNK(found.st_mode)) give_up(place->path);
  close(target);
  pin(root, place->path);
  target = open_unlinked(at);
  int over = S_ISDIR(found.st_mode) ? new_tmpfs(EMPTY_BYTES, 0755) : clone_tree("/dev/null", false, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  if (target < 0 || over < 0 || put_on(over, target) != 0) give_up(place->path);
  close(target);
  close(over);
  place->covered = true;
}

static void show(const char *root, const struct place *place) {
  char at[PATH_BYTES];
  join(at, root, place->path);
  if (place->kind == SHOWN && writable_above(place->path) != NULL) {
    pin(root, place->path);
    seal(at, SEALED);
    return;
  }
  struct stat found;
  if (stat(place->path, &found) != 0) give_up(place->path);
  int tree = place->kind == SHOWN ? clone_tree(place->path, true, SEALED) : place->tree;
  int target = tree >= 0 && make_target(at, S_ISDIR(found.st_mode)) == 0 ? open_unlinked(at) : -1;
  if (target < 0 || put_on(tree, target) != 0) give_up(place->path);
  close(target);
  close(tree);
}

// Hooks, and programs that its settings name, run with the rights of whoever uses the repository next, and settings can be taken from
// anywhere in it: all of it is read-only. Where it is a file, that says where the repository is.
static void seal_repository(const char *root) {
  char folder[PATH_BYTES], at[PATH_BYTES];
  struct stat found;
  join(folder, root, cage.folder);
  join(at, folder, "/.git");
  if (lstat(at, &found) != 0 && errno == ENOENT) return; // nobody can make one there
  if (S_ISLNK(found.st_mode)) errno = ELOOP;
  if (S_ISLNK(found.st_mode)) give_up(".git is a link, which cannot be kept from being replaced");
  seal(at, SEALED);
}

// So that paths work as they were given.
static void lay_links(const char *root) {
  char at[PATH_BYTES], above[PATH_BYTES];
  for (uint32_t i = 0; i + 1 < cage.links.count; i += 2) {
    struct stat found;
    join(at, root, cage.links.at[i]);
    snprintf(above, sizeof above, "%s", at);
    *strrchr(above, '/') = 0;
    if (lstat(at, &found) == 0) continue;
    if (make_folders(above) != 0 || symlink(cage.links.at[i + 1], at) != 0) give_up(cage.links.at[i]);
  }
}

void workspace_tree(const char *root) {
  for (uint32_t i = 0; i < place_count; i++) {
    if (places[i].kind == HIDDEN) hide(root, &places[i]);
    else show(root, &places[i]);
  }
  if (cage.folder_writable) seal_repository(root);
  lay_links(root);
  // What is shown again inside of an empty place needed names there first.
  for (uint32_t i = 0; i < place_count; i++) {
    char at[PATH_BYTES];
    join(at, root, places[i].path);
    if (places[i].covered && set_mount(at, MOUNT_ATTR_RDONLY, 0) != 0) give_up(places[i].path);
  }
}
