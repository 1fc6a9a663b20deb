// The helper of one box. It stays small: what a program is charged for memory begins with the size of the process that forked it.
//
//   owner (Node) -- frames on stdin/stdout -- helper -- init (process 1 of a run's namespaces) -- the program
//
// Where there is a cgroup, init and the program are in it, born there from the starter, and the helper is not.
// The next run's namespaces, folders and process are made ready while the owner is busy with the last result.
#ifndef CAGE_H
#define CAGE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_FRAME_BYTES (1u << 30)
#define MAX_LIST 256
#define MAX_BINDS 200
#define MAX_ARGS 8192
#define ORDER_BYTES (1u << 20)
#define PATH_BYTES 4096
#define KILL_GRACE_MS 5000
// Without a pid namespace the first process ends the others one by one, which takes long where the machine has much to do.
#define BARE_KILL_GRACE_MS 60000
#define ANSWER_GRACE_MS 10000 // for init to say how long the program was starved: it waits for a processor too
#define MAX_KEPT 64
#define MAX_FAMILY 4096
#define PARTING_NS 50000000ull
#define MESSAGE_BYTES 1024
#define PLACED_AT "/placed" // where programs find, read-only, what is shown in the box under its own name
#define ROOT_AT "/sys" // where the tree is built: a folder that is always there and that nothing is taken from
#define OPEN_FILES_WATCHED 256 // without a cgroup, of a judged program: what is sent and not yet taken is held too, up to as many per user
#define LEASE_FOLDER "/run/parley"
#define LIVE_FIRST 3 // descriptors that the owner gave us for one program: its standard input, output and error

enum tier { TIER_ROOT = 1, TIER_USER = 2, TIER_LANDLOCK = 3 };
enum profile { PROFILE_JUDGE = 0, PROFILE_WORKSPACE = 1 };
enum frame { FRAME_OPEN = 1, FRAME_RUN = 2, FRAME_KILL = 3, FRAME_JOIN = 4, FRAME_READY = 10, FRAME_DONE = 11, FRAME_JOINED = 12, FRAME_FAILED = 13, FRAME_OUTPUT = 14 };
enum why { WHY_NONE = 0, WHY_CPU, WHY_WALL, WHY_MEMORY, WHY_OUTPUT, WHY_PROCESSES, WHY_ABORT, WHY_SANDBOX };

struct limits {
  uint64_t cpu_us, wall_us, memory, output, box;
  uint64_t starved_wall_us; // how far the clock's end may be moved for a program that is starved
  uint32_t processes, files;
};

// What helper, init and program share: the order going in, the report coming out.
struct shared {
  struct limits limits;
  uint32_t argc, envc, bind_count;
  uint32_t placed_count; // of large files that we put into the box: the first of the binds
  uint64_t placed_bytes; // of them
  uint64_t files_mark;   // what our own files in the box take, where it lies in memory
  bool bind_is_folder[MAX_BINDS];
  _Atomic uint32_t why;
  _Atomic int failed_errno;
  char failed_at[96];
  uint64_t cpu_mark_us, oom_mark, refusal_mark; // what the cgroup said when the run was made ready
  uint64_t forked_ns, go_ns, start_ns, end_ns, prelude_us, cpu_us, maxrss_bytes;
  uint64_t prelude_wait_us; // how long the program's process had waited for a processor before its time began
  uint64_t starved_us;      // as it was asked for last
  bool starved_known, waits_still; // waits: it could run when asked, and may have been kept from it, for nobody knows how long
  bool joined;
  int wait_status;
  pid_t program; // leads the group that all of its processes begin in
  bool began;
  _Atomic bool reported;
  uint32_t strings_used;
  char strings[ORDER_BYTES]; // arguments, environment, targets of binds: each ends with a zero
};

// The strings of the opening frame.
struct list {
  uint32_t count;
  const char *at[MAX_LIST];
};

struct cage {
  enum tier tier;
  enum profile profile;
  uid_t uid;
  gid_t gid;
  int slot, slot_lock;
  int skeleton; // the mount namespace that every run starts from
  char *folder;
  bool folder_writable, host_network;
  bool owned_by_root; // root started us
  struct list readable, hidden, writable; // real paths; writable: more folders like `folder`
  struct list placeholders; // names that no program may make, a folder's with a slash at its end
  struct list links; // in pairs: a link on the way to one of these paths, and where it leads
  char *proxy_socket; // where the one way out leads, or empty
  uint16_t proxy_port; // of the box's own loopback
  bool local_sockets; // programs of a box with one way out may have some
  bool live; // the next run's streams are LIVE_FIRST and the two after it
  char *run_folder;
  char *box_folder; // without namespaces, a real folder
  int cpu_count;
  int cgroup; // 0, 1 or 2
  int cpu_fd, oom_fd, pids_fd;
  int landlock_abi;
  uint64_t memory_set;
  uint32_t pids_set;
  int join_in, join_out; // ends of pipes to another box, for the next run
};

// A run made ready: namespaces and processes wait for their order.
struct stage {
  pid_t init;
  int init_pidfd, init_socket, program_socket;
  int box, tmp;
  int placed; // what holds large files that we put into the box, once there is one
  int in, out, err; // our ends
  uint64_t box_bytes;
  struct shared *shared;
};

extern struct cage cage;

// wire.c
struct cursor {
  const uint8_t *at, *end;
  bool bad;
};
uint8_t *read_frame(uint8_t *type, uint32_t *length);
void free_frame(uint8_t *frame, uint32_t length);
uint32_t take_u32(struct cursor *from);
uint64_t take_u64(struct cursor *from);
const uint8_t *take_bytes(struct cursor *from, uint32_t *length);
char *take_string(struct cursor *from);
void take_list(struct cursor *from, struct list *into);
void put_u32(uint8_t *at, uint32_t value);
void put_u64(uint8_t *at, uint64_t value);
struct iovec;
void write_frame(uint8_t type, struct iovec *parts, int count);
void write_failed(const char *message);
_Noreturn void give_up(const char *what);
uint64_t now_ns(void);
uint64_t own_cpu_us(void);

// ground.c: users and namespaces of the box
void stand_on_ground(enum tier wanted);
void own_cgroup_view(void);
void leave_ground(void);
int lock_slot(int slot);
void unlock_slot(int slot, int lock);
// sweep.c: after a helper that was killed; segments.c: what a run leaves
_Noreturn void sweep_main(const char *helper, const char *folder);
void free_segments(void);

// cgroup.c
void cgroup_open(void);
void cgroup_mark(struct shared *shared);
bool cgroup_join(void);
void cgroup_limit(const struct limits *limits);
void cgroup_close(void);
bool cgroup_remove(int slot);
void oom_last(void);
uint64_t cgroup_cpu_us(void);
uint64_t cgroup_oom_kills(void);
uint64_t cgroup_refusals(void);

// skeleton.c, settings.c, workspace.c, owner.c, placeholder.c: the tree of files that programs see
void skeleton_open(void);
void workspace_open(void);
void workspace_tree(const char *root);
void settings_tree(const char *root);
void settings_each(void (*each)(void *with, const char *path), void *with);
int show_as_owner(const char *path, int opened, uint64_t attributes);
bool hold_repository(const char *folder, int opened);
struct stat;
bool hold_name(char *path, struct stat *found);
void let_go_of_names(void);
bool is_below(const char *path, const char *folder);
int bind_inside(const char *root, const char *path, uint64_t attributes);
int make_folders(const char *path);
int make_target(const char *path, bool folder);

// mounts.c
#define SEALED (0x1 | 0x2 | 0x4) // MOUNT_ATTR_RDONLY, NOSUID, NODEV
#define LOOSE (0x2 | 0x4)
int new_tmpfs(uint64_t bytes, mode_t mode);
int resize_tmpfs(int mount, uint64_t bytes);
int open_unlinked(const char *path); // to look at and to mount, not to read
int clone_tree(const char *path, bool recursive, uint64_t attributes);
int clone_open(int opened, uint64_t attributes);
int put_mount(int mount, const char *at);
int set_mount(const char *at, uint64_t set, uint64_t clear);

// binds.c
const char *bind_all(const struct shared *shared, const int *fds, uint32_t count);

// starter.c
struct init_ends { // of what connects a run with us, its own ends
  int socket, program_socket, streams[3];
};
pid_t clone_init(int *pidfd, uint64_t flags);
bool starter_open(void);
pid_t starter_start(const struct stage *stage, const struct init_ends *ends, int *pidfd);
void starter_close(void);

// stage.c, init.c, program.c, filter.c
struct shared *new_shared(void);
bool stage_open(struct stage *stage);
void stage_close(struct stage *stage);
uint64_t kill_grace_ms(void);
void close_live(void);
_Noreturn void init_main(struct stage *stage, const struct init_ends *ends);
_Noreturn void program_main(struct stage *stage, int socket, const int ends[3]);
void fail_stage(struct shared *shared, const char *at);
void filter_build(void);
int filter_install(void);
bool set_oom_first(void);
bool landlock_install(const struct stage *stage);
int landlock_version(void);

// proc.c
bool own_proc(void);

// relay.c, local.c
void relay_start(void);
int local_sockets_refuse(void);

// watch.c, memory.c, buffers.c, folder.c: what the processes of a run use together
struct usage {
  uint64_t cpu_us, resident;
  uint32_t tasks;
};
struct usage watch_tree(uint32_t most_tasks); // as soon as there are more, only that is true
uint64_t watch_hidden_us(void);
struct held_files { // by a run, in its two folders
  int box, tmp;
  uint64_t bytes; // of memory
};
bool watch_too_large(const struct usage *used, const struct held_files *files, uint64_t limit);
uint32_t watch_seen(pid_t *into, uint32_t room); // who was there at the last look
bool has_memory(pid_t pid);
uint64_t watch_buffers(uint64_t cpu_us);
uint64_t watch_unlinked(int folder);
ssize_t read_small(const char *path, char *into, size_t room);
uint64_t folder_bytes(int folder);
bool is_in_memory(int folder);
uint64_t memory_of_files(int folder);
uint32_t children_of(pid_t of, pid_t *into, uint32_t room);
bool kill_descendants(pid_t program); // false: somebody was still alive
uint64_t tasks_of_user(void);

// starved.c
void starved_tell(struct shared *shared, pid_t program, uint64_t cpu_us);

// run.c, clock.c, answer.c, files.c, pump.c, join.c, probe.c
struct run;
bool clock_is_over(struct run *run);
bool clock_answered(struct run *run);
uint32_t settle(struct run *run);
void answer(struct run *run, uint32_t why, const uint8_t *kept, uint32_t kept_count);
void run_order(struct stage *stage, struct cursor *order);
void join_order(struct cursor *order);
_Noreturn void probe_main(int count, char **words);
bool pass(int socket, char message, const int *fds, int count);

struct placed { // mounts that init puts into its tree
  int mounts[MAX_BINDS];
  int count;
};
bool place_files(struct stage *stage, struct cursor *order, char *message, size_t room);
bool add_bind(struct stage *stage, struct placed *placed, const char *path);
bool keep_file(const struct stage *stage, const char *name, const char *to, uint64_t limit, char *message, size_t room);
bool remove_folder(int parent, const char *name);

struct stream {
  int fd, forward; // forward: the other box's input, or -1
  bool stopped;    // it has said more than it may
  bool broken;     // the other box has stopped listening
  bool steady;     // what is said to a box that listens no more is lost, and breaks no pipe
  uint32_t told_as; // 1 or 2: what is held is told as it comes, under this number; 0: with the end
  uint64_t parted_ns;
  uint64_t total, capture, held, room, sent;
  uint8_t *bytes;
};
struct feed {
  int fd, source; // source: a file that must go through the pipe, or -1
  const uint8_t *at;
  uint64_t left;
};
struct run {
  struct stage *stage;
  struct stream out, err;
  struct feed feed;
  int input;
  bool over, told, joined;
  bool asked; // init, how long the program was starved
  uint64_t deadline_ns;
  char message[MESSAGE_BYTES];
};
bool pump_out(struct stream *stream, uint64_t limit);
uint64_t part(struct stream *stream, bool over);
void pump_in(struct feed *feed);
#endif
