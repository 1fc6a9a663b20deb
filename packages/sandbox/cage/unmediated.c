// What Landlock does not look at, in the tier where nothing else keeps the machine's files and queues apart.
#include "filter.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define LANDLOCK_WITH_TRUNCATE 3

// Being told of what others open and change, in folders that cannot be read as well.
static const int WATCHING[] = {
  SYS_inotify_init1, SYS_inotify_add_watch,
#ifdef SYS_inotify_init
  SYS_inotify_init,
#endif
};
// Queues and semaphores, which have numbers instead of paths.
static const int UNSEEN[] = {
  SYS_shmctl, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_unlink,
};
// Attributes of files that cannot be opened.
static const int ATTRIBUTES[] = {SYS_getxattr, SYS_lgetxattr, SYS_listxattr, SYS_llistxattr, 464 /* getxattrat */, 465 /* listxattrat */};
static const int CUTTING[] = {SYS_truncate};

// A file that is opened to be emptied and not to be written counts as read before version 3.
static void refuse_emptying(int call, int flags) {
  UNLESS((unsigned)call, 7);
  LOAD(args[flags]);
  UNLESS_BIT(O_TRUNC, 4);
  KEEP(O_ACCMODE);
  IF(O_WRONLY, 2);
  IF(O_RDWR, 1);
  ANSWER(REFUSE(EACCES));
  LOAD(nr);
}

// A judged program shares the system's folders with the compilers and programs of others. Commands need it, for what they watch in their folder.
void filter_watching(void) {
  REFUSE_ALL(WATCHING, ENOSYS);
}

void filter_unmediated(void) {
  REFUSE_ALL(UNSEEN, ENOSYS);
  REFUSE_ALL(ATTRIBUTES, EOPNOTSUPP);
  if (cage.landlock_abi < LANDLOCK_WITH_TRUNCATE) REFUSE_ALL(CUTTING, EACCES);
  refuse_emptying(SYS_openat, 2);
#ifdef SYS_open
  refuse_emptying(SYS_open, 1);
#endif
}
