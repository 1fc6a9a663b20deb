// What programs share by System V: segments outlive whoever made them.
#include "cage.h"
#include <sys/shm.h>

// They end with their namespace, but the kernel comes to that when it likes, and they would count as the next program's until then.
void free_segments(void) {
  struct shm_info all;
  struct shmid_ds one;
  if (cage.tier == TIER_LANDLOCK) return;
  int last = shmctl(0, SHM_INFO, (struct shmid_ds *)&all);
  for (int i = 0; i <= last; i++) {
    int id = shmctl(i, SHM_STAT, &one);
    if (id >= 0) shmctl(id, IPC_RMID, NULL);
  }
}
