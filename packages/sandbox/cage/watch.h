// The processes of a run as the watch knows them, for what counts their memory.
#ifndef WATCH_H
#define WATCH_H
#include "cage.h"

#define MAX_KNOWN 1024 // those beyond are counted while they live and not remembered

// A process as it was at the last look. Who vanishes and was waited for is in the parent's account from then on; who was not is in
// nobody's, and its last known time is added to what is hidden.
struct known {
  pid_t pid, parent;
  unsigned long long born; // with the pid, who it is
  uint64_t own_us, waited_us, resident;
  uint64_t faulted;     // bytes of pages that it was given one by one, ever
  uint64_t looked_resident, looked_faulted; // as they were at the last close look at memory
  uint64_t size;        // of its address space
  uint64_t vanished_us; // of its children, as they were last seen
  uint32_t mappings, counted_in; // how many it had, in which round of counting them
  bool ignores;         // the end of its children: the kernel keeps no account of them
  bool deaf;            // and did so at the look before
  bool alive;
};
extern struct known known[MAX_KNOWN];
extern uint32_t known_count;

// memory.c
bool is_same_memory(uint32_t one); // as that of somebody before it in the list

// mappings.c: what the kernel keeps for the mappings of all
uint64_t watch_mappings(void);
#endif
