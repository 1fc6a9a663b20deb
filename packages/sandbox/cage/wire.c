// Frames between the helper and its owner: four bytes of length, one of type, then the payload. Numbers are little-endian.
#include "cage.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static bool read_all(uint8_t *into, size_t count) {
  while (count > 0) {
    ssize_t got = read(0, into, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    count -= (size_t)got;
  }
  return true;
}

// A frame lives in pages of its own, so that giving it back makes the process small again. Null at the end of input.
uint8_t *read_frame(uint8_t *type, uint32_t *length) {
  uint8_t head[5];
  if (!read_all(head, sizeof head)) return NULL;
  memcpy(length, head, 4);
  *type = head[4];
  if (*length > MAX_FRAME_BYTES) return NULL;
  uint8_t *frame = mmap(NULL, *length + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (frame == MAP_FAILED) return NULL;
  if (!read_all(frame, *length)) return NULL;
  return frame;
}

void free_frame(uint8_t *frame, uint32_t length) { munmap(frame, length + 1); }

uint32_t take_u32(struct cursor *from) {
  uint32_t value = 0;
  if (from->end - from->at < 4) {
    from->bad = true;
    return 0;
  }
  memcpy(&value, from->at, 4);
  from->at += 4;
  return value;
}

uint64_t take_u64(struct cursor *from) {
  uint64_t low = take_u32(from);
  return low | (uint64_t)take_u32(from) << 32;
}

const uint8_t *take_bytes(struct cursor *from, uint32_t *length) {
  uint32_t count = take_u32(from);
  *length = 0;
  if (from->bad || (size_t)(from->end - from->at) < count) {
    from->bad = true;
    return (const uint8_t *)"";
  }
  const uint8_t *at = from->at;
  from->at += count;
  *length = count;
  return at;
}

// The caller owns the string. A zero inside it would let two readers see two different strings, so it is refused.
char *take_string(struct cursor *from) {
  uint32_t length;
  const uint8_t *bytes = take_bytes(from, &length);
  if (memchr(bytes, 0, length) != NULL) from->bad = true;
  char *copy = strndup((const char *)bytes, length);
  if (copy == NULL) give_up("memory");
  return copy;
}

void take_list(struct cursor *from, struct list *into) {
  uint32_t count = take_u32(from);
  into->count = 0;
  if (count > MAX_LIST) from->bad = true;
  for (uint32_t i = 0; i < count && !from->bad; i++) into->at[into->count++] = take_string(from);
}

void put_u32(uint8_t *at, uint32_t value) { memcpy(at, &value, 4); }
void put_u64(uint8_t *at, uint64_t value) { memcpy(at, &value, 8); }

// The first part is the head and leaves five bytes for length and type.
void write_frame(uint8_t type, struct iovec *parts, int count) {
  uint64_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  put_u32(parts[0].iov_base, (uint32_t)(length - 5));
  ((uint8_t *)parts[0].iov_base)[4] = type;
  while (count > 0) {
    ssize_t sent = writev(1, parts, count);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      leave_ground();
      _exit(1);
    }
    while (count > 0 && (size_t)sent >= parts->iov_len) {
      sent -= (ssize_t)parts->iov_len;
      parts++;
      count--;
    }
    if (count > 0) {
      parts->iov_base = (char *)parts->iov_base + sent;
      parts->iov_len -= (size_t)sent;
    }
  }
}

void write_failed(const char *message) {
  uint8_t head[5];
  struct iovec parts[2] = {{head, 5}, {(void *)message, strlen(message)}};
  write_frame(FRAME_FAILED, parts, 2);
}

// For a box that cannot be made: says why and ends.
void give_up(const char *what) {
  char message[512];
  snprintf(message, sizeof message, "%s: %s", what, strerror(errno));
  write_failed(message);
  leave_ground();
  _exit(1);
}

uint64_t now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

uint64_t own_cpu_us(void) {
  struct timespec at;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return (uint64_t)at.tv_sec * 1000000u + (uint64_t)at.tv_nsec / 1000u;
}
