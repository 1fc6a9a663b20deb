// Process 1 of a run: mounts what is the run's own, starts the program, collects the dead, watches what they use, ends them all.
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RESIDENT_TICK_US 4000   // without a cgroup, how long memory may grow unseen
#define CALM_TICK_US 100000
#define SHORTEST_TICK_US 1000
#define FOLDER_LOOKS 16

static struct shared *shared;
static pid_t program;
static bool program_gone;
static int box_folder, tmp_folder;
static unsigned looks;

static void on_child(int signal) { (void)signal; }

static void must(bool done, const char *what) {
  if (done) return;
  fail_stage(shared, what);
  _exit(1);
}

// The run's own /tmp would cover what the box shows below it: that is taken up before and put back after.
static int lift(const char *path) {
  if (!is_below(path, "/tmp") && strcmp(path, "/tmp") != 0) return -1;
  int tree = clone_tree(path, true, MOUNT_ATTR_NOSUID);
  must(tree >= 0, path);
  return tree;
}

static void put_back(int tree, const char *path) {
  if (tree < 0) return;
  struct stat found;
  must(fstat(tree, &found) == 0 && make_target(path, S_ISDIR(found.st_mode)) == 0 && put_mount(tree, path) == 0, path);
  close(tree);
}

// What lies in one that was taken up came with it.
static bool is_lifted(const char *const *lifted, uint32_t count, const char *path) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(path, lifted[i]) == 0 || is_below(path, lifted[i])) return true;
  return false;
}

static int by_path(const void *one, const void *two) { return strcmp(*(const char *const *)one, *(const char *const *)two); }

static void own_tmp(const struct stage *stage) {
  const char *shown[2 * MAX_LIST + 1], *lifted[2 * MAX_LIST + 1];
  int trees[2 * MAX_LIST + 1];
  uint32_t count = 0, lifted_count = 0;
  for (uint32_t i = 0; i < cage.readable.count; i++) shown[count++] = cage.readable.at[i];
  for (uint32_t i = 0; i < cage.writable.count; i++) shown[count++] = cage.writable.at[i];
  if (cage.profile == PROFILE_WORKSPACE) shown[count++] = cage.folder;
  qsort(shown, count, sizeof *shown, by_path);
  for (uint32_t i = 0; i < count; i++) {
    if (is_lifted(lifted, lifted_count, shown[i])) continue;
    int tree = lift(shown[i]);
    if (tree < 0) continue;
    trees[lifted_count] = tree;
    lifted[lifted_count++] = shown[i];
  }
  must(put_mount(stage->tmp, "/tmp") == 0, "/tmp");
  for (uint32_t i = 0; i < lifted_count; i++) put_back(trees[i], lifted[i]);
}

static void own_mounts(const struct stage *stage) {
  must(setns(cage.skeleton, CLONE_NEWNS) == 0 && unshare(CLONE_NEWNS) == 0, "mounts of its own");
  must(own_proc(), "/proc");
  own_tmp(stage);
  must(put_mount(stage->box, "/box") == 0, "/box");
}

static void end_with(enum why why) {
  uint32_t none = WHY_NONE;
  atomic_compare_exchange_strong(&shared->why, &none, why);
}

// A child that is waited for while we look may be found in two places: only a second look is believed.
static struct usage look_at_tree(void) {
  uint32_t most = shared->limits.processes;
  struct usage used = watch_tree(most);
  if (used.cpu_us >= shared->limits.cpu_us + shared->prelude_us) used = watch_tree(most);
  used.cpu_us = used.cpu_us > shared->prelude_us ? used.cpu_us - shared->prelude_us : 0;
  return used;
}

static uint64_t counted_cpu_us(void) {
  uint64_t all = cgroup_cpu_us() - shared->cpu_mark_us, ours = own_cpu_us() + shared->prelude_us;
  return all > ours ? all - ours : 0;
}

static void tell_starved(void) { starved_tell(shared, program, cage.cgroup == 0 ? look_at_tree().cpu_us : counted_cpu_us()); }

// Whoever waited for a partner that was starved is not idle either: that must be known of both, however they end, and a process that
// was waited for takes its account along.
static pid_t next_dead(int *status, int flags) {
  siginfo_t one = {0};
  if (!shared->joined) return waitpid(-1, status, flags);
  if (waitid(P_ALL, 0, &one, WEXITED | WNOWAIT | flags) != 0) return -1;
  if (one.si_pid == program && atomic_load(&shared->why) == WHY_NONE) tell_starved();
  return one.si_pid == 0 ? 0 : waitpid(one.si_pid, status, flags);
}

static void collect(int flags) {
  int status;
  for (pid_t pid; (pid = next_dead(&status, flags)) != 0;) {
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) break;
    if (pid != program) continue;
    shared->end_ns = now_ns();
    shared->wait_status = status;
    program_gone = true;
  }
}

// A box that is a real folder is bounded by being looked at; the program may write no more than its output may hold.
static uint64_t look_at_folders(const struct limits *limits) {
  uint64_t box = folder_bytes(box_folder), tmp = folder_bytes(tmp_folder), unlinked = watch_unlinked(box_folder);
  if (box > limits->box + shared->placed_bytes || tmp > limits->box || unlinked > limits->box) end_with(WHY_OUTPUT);
  return is_in_memory(box_folder) ? box + tmp + unlinked : 0;
}

static bool too_large(const struct usage *used) {
  static uint64_t in_folders;
  const struct limits *limits = &shared->limits;
  bool real = cage.tier == TIER_LANDLOCK;
  if (real && looks % FOLDER_LOOKS == 0) in_folders = look_at_folders(limits);
  uint64_t all = real ? in_folders : memory_of_files(box_folder) + memory_of_files(tmp_folder);
  const struct held_files files = {box_folder, tmp_folder, all > shared->files_mark ? all - shared->files_mark : 0};
  return watch_too_large(used, &files, limits->memory);
}

// Returns after how long to look again: never sooner than a limit could be reached.
static uint64_t look(void) {
  const struct limits *limits = &shared->limits;
  uint64_t next = CALM_TICK_US;
  struct usage used = {0};
  bool watched = cage.cgroup == 0;
  if (watched) used = look_at_tree();
  else {
    used.cpu_us = counted_cpu_us();
    if (cgroup_oom_kills() != shared->oom_mark) end_with(WHY_MEMORY);
    if (cgroup_refusals() != shared->refusal_mark) end_with(WHY_PROCESSES);
  }
  if (used.tasks > limits->processes) end_with(WHY_PROCESSES);
  if (used.cpu_us >= limits->cpu_us) end_with(WHY_CPU);
  if (watched && too_large(&used)) end_with(WHY_MEMORY);
  looks++;
  uint64_t left = used.cpu_us < limits->cpu_us ? (limits->cpu_us - used.cpu_us) / (uint64_t)cage.cpu_count : 0;
  if (left < next) next = left;
  if (watched && next > RESIDENT_TICK_US) next = RESIDENT_TICK_US;
  return next < SHORTEST_TICK_US ? SHORTEST_TICK_US : next;
}

// Somebody may fork while we look: until nobody is left.
static void kill_all(void) {
  if (cage.tier != TIER_LANDLOCK) kill(-1, SIGKILL);
  else
    while (!kill_descendants(program_gone ? 0 : program)) collect(WNOHANG);
}

_Noreturn static void leave(void) {
  kill_all();
  _exit(1);
}

static bool hear(int socket) {
  char message = 0, room[CMSG_SPACE(sizeof(int) * MAX_BINDS)];
  struct iovec part = {&message, 1};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  ssize_t got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) leave(); // the helper is gone
  if (message == 'B') {
    struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
    must(rights != NULL && rights->cmsg_type == SCM_RIGHTS, "binds");
    const char *failed = bind_all(shared, (const int *)CMSG_DATA(rights), (uint32_t)((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int)));
    must(failed == NULL, failed);
    must(send(socket, "b", 1, MSG_NOSIGNAL) == 1, "binds");
  }
  if (message == 'G') shared->began = true;
  if (message == 'W') {
    tell_starved();
    if (send(socket, "w", 1, MSG_NOSIGNAL) != 1) leave();
  }
  return message != 'K';
}

static void watch(int socket) {
  struct pollfd from = {.fd = socket, .events = POLLIN};
  sigset_t none;
  sigemptyset(&none);
  uint64_t wait_us = 0;
  while (!program_gone) {
    struct timespec wait = {.tv_sec = (time_t)(wait_us / 1000000), .tv_nsec = (long)(wait_us % 1000000) * 1000};
    int ready = ppoll(&from, 1, shared->began ? &wait : NULL, &none);
    collect(WNOHANG);
    if (program_gone) return;
    if (ready > 0) {
      if (!hear(socket)) return;
      // Nothing can be reached before this much time has passed: most programs end sooner and are never looked at.
      wait_us = shared->limits.cpu_us / (uint64_t)cage.cpu_count;
      if (wait_us > CALM_TICK_US) wait_us = CALM_TICK_US;
      if (cage.cgroup == 0 && wait_us > RESIDENT_TICK_US) wait_us = RESIDENT_TICK_US;
      continue;
    }
    if (ready == 0) wait_us = look();
    if (atomic_load(&shared->why) != WHY_NONE) return;
  }
}

// A program may have had too many processes between two looks, and then have ended: what it leaves is counted before it is ended, and
// the program itself was one of them. On a busy machine its clock may strike before anybody came to look: what it has then is counted, too.
static void count_left(void) {
  uint32_t struck = WHY_WALL, most = shared->limits.processes;
  if (cage.cgroup != 0) return;
  if (!program_gone && atomic_load(&shared->why) == WHY_WALL && watch_tree(most).tasks > most)
    atomic_compare_exchange_strong(&shared->why, &struck, WHY_PROCESSES);
  if (!program_gone || waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) != 0) return;
  if (watch_tree(most).tasks + 1 > most) end_with(WHY_PROCESSES);
}

static void report(int socket) {
  bool early = !program_gone;
  uint64_t decided_ns = now_ns(); // who gets no processor takes long to die
  count_left();
  // Whoever is killed together with a parent that does not listen leaves no account.
  uint64_t seen_us = cage.cgroup == 0 && looks > 0 ? look_at_tree().cpu_us : 0;
  kill_all();
  collect(0);
  free_segments();
  if (early) shared->end_ns = decided_ns;
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  uint64_t cpu = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000u + (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  cpu += watch_hidden_us();
  shared->cpu_us = cpu > shared->prelude_us ? cpu - shared->prelude_us : 0;
  if (shared->cpu_us < seen_us) shared->cpu_us = seen_us;
  shared->maxrss_bytes = (uint64_t)used.ru_maxrss * 1024u;
  atomic_store(&shared->reported, true);
  if (send(socket, "D", 1, MSG_NOSIGNAL) != 1) _exit(1);
}

void init_main(struct stage *stage, const struct init_ends *ends) {
  shared = stage->shared;
  box_folder = stage->box;
  tmp_folder = stage->tmp;
  // Without a pid namespace our death would free the others: the end of the socket tells us instead, and we end them.
  if (cage.tier != TIER_LANDLOCK) prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  const int ours[] = {0, 1, stage->init_socket, stage->program_socket, stage->in, stage->out, stage->err};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) close(ours[i]);
  struct sigaction act = {.sa_handler = on_child};
  sigaction(SIGCHLD, &act, NULL);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  if (cage.tier == TIER_LANDLOCK) must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "subreaper");
  else own_mounts(stage);
  shared->forked_ns = now_ns();
  program = fork();
  must(program >= 0, "fork");
  if (program == 0) {
    close(ends->socket);
    program_main(stage, ends->program_socket, ends->streams);
  }
  shared->program = program;
  for (int i = 0; i < 3; i++) close(ends->streams[i]);
  close_live();
  close(ends->program_socket);
  watch(ends->socket);
  report(ends->socket);
  _exit(0);
}
