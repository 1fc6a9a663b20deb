// The words that a filter of system calls is written in.
#ifndef FILTER_H
#define FILTER_H
#include "cage.h"
#include <linux/filter.h>
#include <linux/seccomp.h>

void add_rule(struct sock_filter rule);
void refuse_all(const int *calls, size_t count, unsigned error);

#define LOAD(field) add_rule((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
#define ANSWER(what) add_rule((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (what)))
// Skips `count` rules unless the loaded word is `value`.
#define UNLESS(value, count) add_rule((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count)))
#define UNLESS_BIT(bits, count) add_rule((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (count)))
// Skips `count` rules if it is.
#define IF(value, count) add_rule((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (count), 0))
#define KEEP(bits) add_rule((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (bits)))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define REFUSE_ALL(calls, error) refuse_all(calls, sizeof calls / sizeof *calls, error)

// unmediated.c: what a tier without namespaces refuses besides, and every tier to judged programs
void filter_unmediated(void);
void filter_watching(void);
#endif
