// The root of the workspace profile: the system's folders, and of all other files of the host only those that are named. What lies deeper
// decides: a hidden folder in one that is shown is empty, and what is shown in a hidden one is there.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EMPTY_BYTES 65536
#define MAX_PLACES (4 * MAX_LIST + 2)

// In the order in which they are put at one path: what is hidden covers what is shown.
enum kind { SHOWN, WORKED_IN, HIDDEN };

static struct place {
  const char *path;
  enum kind kind;
  bool writable, covered;
  int tree; // of what is shown: taken when it was opened
  struct stat found;
} places[MAX_PLACES];
static uint32_t place_count;
static bool repository_expected;

bool is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static void join(char *into, const char *root, const char *path) {
  if (snprintf(into, PATH_BYTES, "%s%s", root, path) >= PATH_BYTES) give_up("a path is too long");
}

// Paths were resolved before we heard of them, and others may have moved things since: what is not as it was then is refused.
static _Noreturn void give_up_changed(const char *path) {
  char message[PATH_BYTES];
  snprintf(message, sizeof message, "%s has changed since it was looked at, or lies behind a link", path);
  give_up(message);
}

static bool is_same(const struct stat *one, const struct stat *two) { return one->st_dev == two->st_dev && one->st_ino == two->st_ino; }

// What is at a path now, which must be no link; with `meant`, that and nothing else.
static int open_meant(const char *at, const char *path, const struct stat *meant, struct stat *found) {
  int opened = open_unlinked(at);
  if (opened < 0 || fstat(opened, found) != 0) give_up_changed(path);
  errno = S_ISLNK(found->st_mode) ? ELOOP : ESTALE;
  if (S_ISLNK(found->st_mode) || (meant != NULL && !is_same(found, meant))) give_up_changed(path);
  return opened;
}

// Each path is opened once. What it leads to later does not matter: what is shown is what was opened.
static void add_place(const char *path, enum kind kind, bool writable, const struct stat *meant) {
  if (place_count == MAX_PLACES) give_up("too many paths");
  struct place *place = &places[place_count++];
  *place = (struct place){.path = path, .kind = kind, .writable = writable, .tree = -1};
  int opened = open_meant(path, path, meant, &place->found);
  if (kind == WORKED_IN && path == cage.folder && writable) repository_expected = hold_repository(path, opened);
  if (kind == WORKED_IN) place->tree = show_as_owner(path, opened, writable ? LOOSE : SEALED);
  if (kind == SHOWN) place->tree = clone_open(opened, SEALED);
  if (kind != HIDDEN && place->tree < 0) give_up(path);
  close(opened);
}

// What is hidden must not be shown by another name.
static void check_hidden(void) {
  for (uint32_t i = 0; i < place_count; i++)
    for (uint32_t j = 0; j < place_count; j++) {
      if (places[i].kind == HIDDEN || places[j].kind != HIDDEN || !is_same(&places[i].found, &places[j].found)) continue;
      if (places[i].kind == SHOWN && strcmp(places[i].path, places[j].path) == 0) continue; // covered
      errno = EPERM;
      give_up_changed(places[i].path);
    }
}

// What is above comes first.
static int by_path(const void *one, const void *two) {
  const struct place *a = one, *b = two;
  int order = strcmp(a->path, b->path);
  return order != 0 ? order : (int)a->kind - (int)b->kind;
}

// Before the tree is built, while the host's files are still where they are.
void workspace_open(void) {
  add_place(cage.folder, WORKED_IN, cage.folder_writable, NULL);
  for (uint32_t i = 0; i < cage.writable.count; i++) add_place(cage.writable.at[i], WORKED_IN, true, NULL);
  for (uint32_t i = 0; i < cage.readable.count; i++) add_place(cage.readable.at[i], SHOWN, false, NULL);
  for (uint32_t i = 0; i < cage.hidden.count; i++) add_place(cage.hidden.at[i], HIDDEN, false, NULL);
  for (uint32_t i = 0; i < cage.placeholders.count; i++) {
    struct stat found;
    if (hold_name((char *)cage.placeholders.at[i], &found)) add_place(cage.placeholders.at[i], HIDDEN, false, &found);
  }
  add_place(cage.run_folder, HIDDEN, false, NULL);
  check_hidden();
  qsort(places, place_count, sizeof *places, by_path);
}

static int put_on(int mount, int target) {
  return (int)syscall(SYS_move_mount, mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

// A mount of what is there already, which can then neither be moved away nor be replaced.
static void seal(const char *at, uint64_t attributes, const struct stat *meant) {
  struct stat found;
  int target = open_meant(at, at + strlen(ROOT_AT), meant, &found), tree = clone_open(target, attributes);
  if (tree < 0 || put_on(tree, target) != 0) give_up(at + strlen(ROOT_AT));
  close(tree);
  close(target);
}

// What a path is a part of: the place that lies deepest.
static const struct place *place_above(const char *path) {
  const struct place *nearest = NULL;
  for (uint32_t i = 0; i < place_count; i++)
    if (is_below(path, places[i].path)) nearest = &places[i];
  return nearest;
}

// Whether it lies in files of the host, where nothing is made and where it must be as it was found.
static bool is_in_sight(const char *path) {
  const struct place *above = place_above(path);
  return above != NULL && above->kind != HIDDEN;
}

// The folder to write in of which a path is a part; null where something else is in between.
static const struct place *writable_above(const char *path) {
  const struct place *above = place_above(path);
  return above != NULL && above->writable ? above : NULL;
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
    seal(at, LOOSE, NULL);
  }
}

// An empty place over a folder, an empty file over a file. What is not in sight needs no cover.
static void hide(const char *root, struct place *place) {
  char at[PATH_BYTES];
  struct stat found;
  join(at, root, place->path);
  int target = open_unlinked(at);
  if (target < 0 && (errno == ENOENT || errno == ENOTDIR) && !is_in_sight(place->path)) return;
  if (target < 0) give_up_changed(place->path);
  close(target);
  pin(root, place->path);
  target = open_meant(at, place->path, &place->found, &found);
  int over = S_ISDIR(found.st_mode) ? new_tmpfs(EMPTY_BYTES, 0755) : clone_tree("/dev/null", false, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  if (over < 0 || put_on(over, target) != 0) give_up(place->path);
  close(target);
  close(over);
  place->covered = true;
}

static void show(const char *root, const struct place *place) {
  char at[PATH_BYTES];
  struct stat found;
  join(at, root, place->path);
  bool movable = writable_above(place->path) != NULL;
  if (movable) pin(root, place->path);
  if (movable && place->kind == SHOWN) {
    seal(at, SEALED, &place->found);
  } else {
    bool in_sight = is_in_sight(place->path);
    if (!in_sight && make_target(at, S_ISDIR(place->found.st_mode)) != 0) give_up(place->path);
    int target = open_meant(at, place->path, in_sight ? &place->found : NULL, &found);
    if (put_on(place->tree, target) != 0) give_up(place->path);
    close(target);
  }
  close(place->tree);
}

// Hooks, and programs that its settings name, run with the rights of whoever uses the repository next, and settings can be taken from
// anywhere in it: all of it is read-only. Where it is a file, that says where the repository is.
static void seal_repository(const char *root) {
  char folder[PATH_BYTES], at[PATH_BYTES];
  struct stat found;
  join(folder, root, cage.folder);
  join(at, folder, "/.git");
  if (lstat(at, &found) != 0) {
    if (errno == ENOENT && !repository_expected) return; // nobody can make one there
    give_up_changed(at + strlen(root));
  }
  if (S_ISLNK(found.st_mode)) errno = ELOOP;
  if (S_ISLNK(found.st_mode)) give_up(".git is a link, which cannot be kept from being replaced");
  seal(at, SEALED, NULL);
}

// So that paths work as they were given.
static void lay_links(const char *root) {
  char at[PATH_BYTES], above[PATH_BYTES];
  for (uint32_t i = 0; i + 1 < cage.links.count; i += 2) {
    struct stat found;
    join(at, root, cage.links.at[i]);
    snprintf(above, sizeof above, "%s", at);
    *strrchr(above, '/') = 0;
    if (lstat(at, &found) == 0 || is_in_sight(cage.links.at[i])) continue;
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
