// The one way out of a box without a network: what connects to a port of its own loopback is carried to a socket file of the owner.
#include "cage.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// More than an owner keeps open, who knows better which connection is worth its place.
#define MAX_PAIRS 128
#define ROOM 32768
#define BACKLOG 64
// So many times a flow is moved on before it is the turn of the next.
#define MOVES 8
// What a relay has open besides, with room for the one that it dials or takes in before it knows better.
#define OWN_FILES 8

// Bytes on their way from one end to the other.
struct flow {
  int from, to;
  bool ended; // nothing more comes, and the other side was told
  uint32_t start, end;
  uint8_t bytes[ROOM];
};
struct pair {
  bool used;
  struct flow ways[2];
};

static int listening(void) {
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(cage.proxy_port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (server >= 0 && bind(server, (struct sockaddr *)&at, sizeof at) == 0 && listen(server, BACKLOG) == 0) return server;
  if (server >= 0) close(server);
  return -1;
}

static int dial_owner(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  if (snprintf(at.sun_path, sizeof at.sun_path, "%s", cage.proxy_socket) >= (int)sizeof at.sun_path) return -1;
  int out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (out < 0) return -1;
  if (connect(out, (struct sockaddr *)&at, sizeof at) == 0 && fcntl(out, F_SETFL, O_NONBLOCK) == 0) return out;
  close(out);
  return -1;
}

static void drop(struct pair *pair) {
  close(pair->ways[0].from);
  close(pair->ways[0].to);
  pair->used = false;
}

static bool owner_left(const struct pair *pair) {
  struct pollfd outside = {.fd = pair->ways[1].from};
  return pair->ways[1].ended || (poll(&outside, 1, 0) > 0 && (outside.revents & POLLHUP) != 0);
}

// A place for one more. A pair that the owner has left is only kept as long as nobody else needs its place: the program may
// never end its own side, or never read what is left.
static struct pair *place_for(struct pair *pairs, int places) {
  for (int i = 0; i < places; i++)
    if (!pairs[i].used) return &pairs[i];
  for (int i = 0; i < places; i++)
    if (owner_left(&pairs[i])) return &pairs[i];
  return NULL;
}

static void take_in(int server, struct pair *pair) {
  if (pair->used) drop(pair);
  int inside = accept4(server, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (inside < 0) return;
  int outside = dial_owner();
  if (outside < 0) {
    close(inside);
    return;
  }
  pair->used = true;
  for (int way = 0; way < 2; way++) {
    struct flow *flow = &pair->ways[way];
    flow->from = way == 0 ? inside : outside;
    flow->to = way == 0 ? outside : inside;
    flow->ended = false;
    flow->start = flow->end = 0;
  }
}

// False: the connection is broken.
static bool move(struct flow *flow) {
  for (int moves = 0; moves < MOVES; moves++) {
    if (flow->start == flow->end) {
      if (flow->ended) return true;
      ssize_t got = read(flow->from, flow->bytes, ROOM);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN;
      if (got == 0) {
        flow->ended = true;
        shutdown(flow->to, SHUT_WR);
        return true;
      }
      flow->start = 0;
      flow->end = (uint32_t)got;
    }
    ssize_t sent = send(flow->to, flow->bytes + flow->start, flow->end - flow->start, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    flow->start += (uint32_t)sent;
  }
  return true;
}

static void carry(struct pair *pair) {
  bool whole = move(&pair->ways[0]) && move(&pair->ways[1]);
  if (!whole || (pair->ways[0].ended && pair->ways[1].ended)) drop(pair);
}

static short wanted(const struct flow *in, const struct flow *out) {
  return (short)((in->start == in->end && !in->ended ? POLLIN : 0) | (out->start != out->end ? POLLOUT : 0));
}

// Adds what one pair waits for. An end that nothing is wanted of would only report its hanging up, again and again; that of an
// owner is of use where there is no place for one more.
static int wait_for(const struct pair *pair, bool full, struct pollfd *ends, int count) {
  for (int way = 0; way < 2; way++) {
    short events = wanted(&pair->ways[way], &pair->ways[1 - way]);
    if (events != 0 || (full && way == 1)) ends[count++] = (struct pollfd){.fd = pair->ways[way].from, .events = events};
  }
  return count;
}

// Both ends of each pair are open files, of which the box has so many.
static int places_within(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= 2 * MAX_PAIRS + OWN_FILES) return MAX_PAIRS;
  return files.rlim_cur > OWN_FILES + 2 ? (int)(files.rlim_cur - OWN_FILES) / 2 : 1;
}

_Noreturn static void relay(int server) {
  const int places = places_within();
  struct pair *pairs = mmap(NULL, sizeof *pairs * MAX_PAIRS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pairs == MAP_FAILED) _exit(1);
  for (;;) {
    struct pollfd ends[1 + 2 * MAX_PAIRS];
    struct pair *place = place_for(pairs, places);
    int count = 1;
    for (int i = 0; i < MAX_PAIRS; i++)
      if (pairs[i].used) count = wait_for(&pairs[i], place == NULL, ends, count);
    // Without room, whoever comes waits to be taken in.
    ends[0] = (struct pollfd){.fd = place == NULL ? -1 : server, .events = POLLIN};
    if (poll(ends, (nfds_t)count, -1) < 0 && errno != EINTR) _exit(1);
    if (ends[0].revents != 0) take_in(server, place);
    for (int i = 0; i < MAX_PAIRS; i++)
      if (pairs[i].used) carry(&pairs[i]);
  }
}

// Called by the process that is about to become the program: it listens before the program runs. The relay is nobody's child, so
// that the program has none that it does not know, and ends with the run.
void relay_start(void) {
  int server = listening();
  pid_t between = server < 0 ? -1 : fork();
  if (between == 0) {
    if (fork() != 0) _exit(0);
    syscall(SYS_close_range, 0u, (unsigned)server - 1, 0u);
    relay(server);
  }
  while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR) continue;
  if (server >= 0) close(server);
  if (between > 0) return;
  // Without its way out the program would only wait for nothing.
  static const char words[] = "the way out of the box cannot be opened\n";
  if (write(2, words, sizeof words - 1) < 0) _exit(126);
  _exit(127);
}
