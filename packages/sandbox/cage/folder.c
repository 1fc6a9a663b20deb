// How much the folders of a run hold: on a disk, where there is no file system of their own to bound it, and in memory.
#include "cage.h"
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define DEEPEST 32
#define BLOCK_BYTES 512u
#define MOST_ENTRIES 65536u
#define NAME_BYTES 1536u // of the kernel, for a file however small: measured, with the longest names

static uint64_t sum(int folder, int depth, uint32_t *entries) {
  uint64_t bytes = 0;
  DIR *open_folder = fdopendir(folder);
  if (open_folder == NULL) {
    close(folder);
    return 0;
  }
  for (struct dirent *entry; (entry = readdir(open_folder)) != NULL && *entries <= MOST_ENTRIES;) {
    struct stat found;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    (*entries)++;
    if (fstatat(folder, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
    bytes += (uint64_t)found.st_blocks * BLOCK_BYTES;
    if (!S_ISDIR(found.st_mode) || depth >= DEEPEST) continue;
    int below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0) bytes += sum(below, depth + 1, entries);
  }
  closedir(open_folder);
  return bytes;
}

// Too many entries count as too many bytes.
uint64_t folder_bytes(int folder) {
  uint32_t entries = 0;
  int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return 0;
  uint64_t bytes = sum(again, 0, &entries);
  return entries > MOST_ENTRIES ? UINT64_MAX : bytes;
}

bool is_in_memory(int folder) {
  struct statfs found;
  return fstatfs(folder, &found) == 0 && (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
}

// Those too that have no name any more. Without namespaces the file system is others' as well: then it is what the folder holds.
uint64_t memory_of_files(int folder) {
  struct statfs found;
  if (cage.tier == TIER_LANDLOCK) return is_in_memory(folder) ? folder_bytes(folder) : 0;
  if (fstatfs(folder, &found) != 0) return 0;
  return (uint64_t)(found.f_blocks - found.f_bfree) * (uint64_t)found.f_bsize + (uint64_t)(found.f_files - found.f_ffree) * NAME_BYTES;
}
