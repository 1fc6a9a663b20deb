// Bytes in and out of a run. Everything here is non-blocking: limits must hold whoever is slow.
#include "cage.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHUNK_BYTES 65536
#define FIRST_ROOM 65536

static uint8_t chunk[CHUNK_BYTES];

static bool grow(struct stream *stream, uint64_t wanted) {
  if (wanted <= stream->room) return true;
  uint64_t room = stream->room == 0 ? FIRST_ROOM : stream->room;
  while (room < wanted) room *= 2;
  void *bytes = stream->room == 0 ? mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                  : mremap(stream->bytes, stream->room, room, MREMAP_MAYMOVE);
  if (bytes == MAP_FAILED) return false;
  stream->bytes = bytes;
  stream->room = room;
  return true;
}

// Never more than is captured, so that a slow owner delays a run by a bounded amount at most.
static void tell(const struct stream *stream, const uint8_t *bytes, uint64_t count) {
  uint8_t head[9];
  put_u32(head + 5, stream->told_as);
  struct iovec parts[] = {{head, sizeof head}, {(void *)bytes, count}};
  write_frame(FRAME_OUTPUT, parts, 2);
}

static void hold(struct stream *stream, const uint8_t *bytes, uint64_t count) {
  if (stream->held + count > stream->capture) count = stream->capture - stream->held;
  if (count == 0 || !grow(stream, stream->held + count)) return;
  memcpy(stream->bytes + stream->held, bytes, count);
  stream->held += count;
  if (stream->told_as != 0 && stream->forward < 0) tell(stream, bytes, count);
}

static void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

// Passes on what waits for the other box.
static void push(struct stream *stream) {
  while (stream->sent < stream->held) {
    ssize_t sent = write(stream->forward, stream->bytes + stream->sent, stream->held - stream->sent);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      stream->broken = true;
      return;
    }
    stream->sent += (uint64_t)sent;
  }
  stream->sent = stream->held = 0;
}

// Reads what is there; the stream closes at its end. False: it has said more than it may.
bool pump_out(struct stream *stream, uint64_t limit) {
  bool joined = stream->forward >= 0;
  if (joined && !stream->broken) push(stream);
  while (stream->fd >= 0 && !stream->stopped && !stream->broken && (!joined || stream->held == 0)) {
    ssize_t got = read(stream->fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      shut(&stream->fd);
      break;
    }
    bool over = (uint64_t)got > limit - stream->total;
    if (over) got = (ssize_t)(limit - stream->total);
    stream->total += (uint64_t)got;
    hold(stream, chunk, (uint64_t)got);
    if (over) {
      stream->stopped = true; // and left open: it is to die of being killed, not of a broken pipe
      return false;
    }
    if (joined) push(stream);
    else if ((size_t)got < sizeof chunk) return true;
  }
  return true;
}

// One side of a conversation is gone. The other is told a little later: by then it is known whether the first has ended, so that two
// ends never seem to come in the wrong order. Returns when to look again, or 0.
uint64_t part(struct stream *stream, bool over) {
  if (stream->forward < 0) return 0;
  bool silent = (stream->fd < 0 || stream->stopped) && stream->held == 0;
  if (!silent && !stream->broken) return 0;
  uint64_t now = now_ns();
  if (stream->parted_ns == 0) stream->parted_ns = now;
  if (!over && now < stream->parted_ns + PARTING_NS) return stream->parted_ns + PARTING_NS;
  shut(&stream->forward);
  // A writer without a reader gets a broken pipe, as it would without us between. One that decides about the other must not: it would
  // seem to have failed because the other has ended. What it still says is counted and lost.
  if (stream->broken && !stream->steady) shut(&stream->fd);
  if (stream->steady) {
    stream->broken = false;
    stream->capture = 0;
  }
  stream->sent = stream->held = 0;
  return 0;
}

// A program that does not read its input, or no longer, is none of our business.
void pump_in(struct feed *feed) {
  static uint8_t from_file[CHUNK_BYTES];
  while (feed->fd >= 0) {
    if (feed->left == 0 && feed->source >= 0) {
      ssize_t got = read(feed->source, from_file, sizeof from_file);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) shut(&feed->source);
      else {
        feed->at = from_file;
        feed->left = (uint64_t)got;
      }
    }
    if (feed->left == 0 && feed->source < 0) {
      shut(&feed->fd);
      return;
    }
    if (feed->left == 0) continue;
    ssize_t sent = write(feed->fd, feed->at, feed->left);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      shut(&feed->fd);
      shut(&feed->source);
      return;
    }
    feed->at += sent;
    feed->left -= (uint64_t)sent;
  }
}
