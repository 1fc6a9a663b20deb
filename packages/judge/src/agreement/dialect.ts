import type { Language } from '@parley/protocol'
import { RIGHT, SLOW, SUM, SUM_PYTHON, sum, type Task, WRONG } from './task.ts'

/** One program of the set. */
export interface SetProgram {
  readonly name: string
  readonly language: Language
  readonly code: string
  readonly answer: (numbers: readonly number[]) => string
  /** Runs into its limit of time. */
  readonly burns: boolean
}

/** How tasks are written in a language, and how its programs fail. */
interface Dialect {
  readonly language: Language
  write(task: Pick<Task, 'braces' | 'python'>): string
  /** Ways to end badly, by what they do; `#` stands for the exit code. */
  readonly ends: Readonly<Record<string, string>>
  /** Sources that nobody can read. */
  readonly broken: readonly string[]
}

const C_HEAD = cHead('#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n')
// Headers of C++ that are read fast: a container of the library takes longer to compile than all else, eighty times over.
const CPP_HEAD = cHead('#include <csignal>\n#include <cstdio>\n#include <cstdlib>\n#include <ctime>\n')

function cHead(headers: string): string {
  return `${headers}#define NUM long
static long v[1000], n;
static void put(long x) { printf("%ld\\n", x); }
static void text(const char *x) { fputs(x, stdout); }
static void burn(long ms) { struct timespec t; do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms); }
static volatile long zero = 0, depth = 0;
static long dig(long x) { volatile char room[1000]; room[x % 1000] = 1; depth++; return dig(x + 1) + room[0]; }
int main() { while (scanf("%ld", &v[n]) == 1) n++; (void)burn; (void)dig; (void)text; (void)put; (void)zero;
`
}

const C_ENDS = {
  'exit code 1': 'fflush(stdout); exit(1);',
  'exit code 42': 'exit(42);',
  'exit code 255': 'return -1;',
  abort: 'fflush(stdout); abort();',
  'bad address': 'fflush(stdout); *(volatile int *)zero = 1;',
  'killed by itself': 'raise(SIGKILL);',
  'ended by itself': 'raise(SIGTERM);',
  'an error': 'put(7 / zero);',
  'too deep': 'put(dig(0));',
}
const C_BROKEN = ['for (', 'undeclared = 5;', '"without an end', 'this is not a program }}} {']

const JS_HEAD = (types: boolean): string => `const { readFileSync, writeSync } = require('node:fs')
const v${types ? ': number[]' : ''} = readFileSync(0, 'utf8').split(/\\s+/).filter(Boolean).map(Number)
const n${types ? ': number' : ''} = v.length
let out = ''
const put = (x${types ? ': number' : ''})${types ? ': void' : ''} => { out += x + '\\n' }
const text = (x${types ? ': string' : ''})${types ? ': void' : ''} => { out += x }
const flush = () => { let b = Buffer.from(out); while (b.length > 0) b = b.subarray(writeSync(1, b)); out = '' }
const burn = (ms${types ? ': number' : ''}) => { flush(); for (;;) { const u = process.cpuUsage(); if ((u.user + u.system) / 1000 > ms) return } }
const dig = (x${types ? ': number' : ''})${types ? ': number' : ''} => dig(x + 1) + 1
`
const JS_ENDS = {
  'exit code 1': 'flush(); process.exit(1)',
  'exit code 42': 'process.exit(42)',
  'exit code 255': 'process.exit(255)',
  abort: 'flush(); process.abort()',
  'bad address': "flush(); process.kill(process.pid, 'SIGSEGV'); for (;;) {}",
  'killed by itself': "process.kill(process.pid, 'SIGKILL'); for (;;) {}",
  'ended by itself': "process.kill(process.pid, 'SIGTERM'); for (;;) {}",
  'an error': "flush(); throw new Error('as it should be')",
  'too deep': 'put(dig(0))',
}
const JS_BROKEN = ['for (', 'undeclared.field = 5', '"without an end', 'this is not a program }}} {']

const PYTHON_HEAD = `import os, signal, sys, time
v = list(map(int, sys.stdin.read().split()))
n = len(v)
def put(x): sys.stdout.write(f"{x}\\n")
def text(x): sys.stdout.write(x)
def burn(ms):
    while time.process_time() * 1000 < ms: pass
def dig(x): return dig(x + 1) + 1
`
const PYTHON_ENDS = {
  'exit code 1': 'sys.exit(1)',
  'exit code 42': 'sys.exit(42)',
  'exit code 255': 'sys.exit(-1)',
  abort: 'sys.stdout.flush(); os.abort()',
  'bad address': 'sys.stdout.flush(); os.kill(os.getpid(), signal.SIGSEGV)',
  'killed by itself': 'os.kill(os.getpid(), signal.SIGKILL)',
  'ended by itself': 'os.kill(os.getpid(), signal.SIGTERM)',
  'an error': 'put(7 // 0)',
  'too deep': 'put(dig(0))',
}
const PYTHON_BROKEN = ['for (', 'undeclared.field = 5', '"without an end', 'this is not a program }}} {']

const numbersAs = (word: string, body: string): string => body.replaceAll(/\bNUM\b/g, word)

const DIALECTS: readonly Dialect[] = [
  { language: 'c', write: ({ braces }) => `${C_HEAD}${braces}\nreturn 0; }\n`, ends: C_ENDS, broken: C_BROKEN },
  {
    language: 'cpp',
    write: ({ braces }) => `${CPP_HEAD}${braces}\nreturn 0; }\n`,
    ends: { ...C_ENDS, 'an error': 'throw 5;' },
    broken: C_BROKEN,
  },
  { language: 'python', write: ({ python }) => `${PYTHON_HEAD}${python}\n`, ends: PYTHON_ENDS, broken: PYTHON_BROKEN },
  {
    language: 'javascript',
    write: ({ braces }) => `${JS_HEAD(false)}${numbersAs('let', braces)}\nflush()\n`,
    ends: JS_ENDS,
    broken: JS_BROKEN,
  },
  {
    language: 'typescript',
    write: ({ braces }) =>
      `${JS_HEAD(true)}${numbersAs('let', braces).replaceAll(/let (\w+) =/g, 'let $1: number =')}\nflush()\n`,
    ends: JS_ENDS,
    broken: JS_BROKEN,
  },
]

/** Every task in every language, and every way to fail. */
export const PROGRAM_SET: readonly SetProgram[] = DIALECTS.flatMap((dialect) => [
  ...[...RIGHT, ...WRONG].map((task) => written(dialect, task)),
  ...SLOW.map((task) => ({ ...written(dialect, task), burns: true })),
  ...Object.entries(dialect.ends).map(([name, end]) => written(dialect, crash(name, end))),
  written(dialect, crash('an end in the second case', dialect.ends['exit code 42'] ?? '', 'later')),
  written(dialect, crash('an error in the second case', dialect.ends['an error'] ?? '', 'later')),
  ...dialect.broken.map((text, index) =>
    written(dialect, { name: `broken source ${index + 1}`, answer: sum, braces: text, python: text }),
  ),
])

function written(dialect: Dialect, task: Task): SetProgram {
  return { name: task.name, language: dialect.language, code: dialect.write(task), answer: task.answer, burns: false }
}

/** Prints what is right and then ends badly, at once or only for larger numbers. */
function crash(name: string, end: string, when: 'at once' | 'later' = 'at once'): Task {
  const braces = when === 'later' ? `if (v[0] > 5) { ${end} }` : end
  const python = when === 'later' ? `if v[0] > 5: ${end}` : end
  return { name, answer: sum, braces: `${SUM} put(s); ${braces}`, python: `${SUM_PYTHON}put(s)\n${python}` }
}
