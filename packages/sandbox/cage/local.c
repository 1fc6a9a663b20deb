// Takes local sockets from a program whose box has one way out. The relay needs them to dial its owner and has the filter of the box, so the
// program gets this one besides, once the relay is on its own.
#include "cage.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define SOCKET_TYPES 0xf // the rest of a socket's type are flags
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define JUMP(value, same, other) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (same), (other))

// The filter of the box has looked at the processor's architecture already. Pairs that are connected for good stay: one of datagrams can be
// sent anywhere.
int local_sockets_refuse(void) {
  struct sock_filter rules[] = {
    /* 0 */ LOAD(nr),
    /* 1 */ JUMP(SYS_socketpair, 3, 0), // to 5
    /* 2 */ JUMP(SYS_socket, 0, 6),     // to 9
    /* 3 */ LOAD(args[0]),
    /* 4 */ JUMP(AF_UNIX, 5, 4), // to 10, or to 9
    /* 5 */ LOAD(args[1]),
    /* 6 */ BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPES),
    /* 7 */ JUMP(SOCK_STREAM, 1, 0),    // to 9
    /* 8 */ JUMP(SOCK_SEQPACKET, 0, 1), // to 9, or to 10
    /* 9 */ ANSWER(SECCOMP_RET_ALLOW),
    /* 10 */ ANSWER(SECCOMP_RET_ERRNO | EACCES),
  };
  struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
