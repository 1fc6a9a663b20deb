import type { RunLimits } from '../sandbox.ts'

const KIB = 1024
const CPU_GRACE_S = 2
/** Managed runtimes map far more than they touch; the watch on resident size is the real bound. */
const DATA_FACTOR = 8
const DATA_EXTRA_KIB = 4 * 1024 * 1024
const SMALLEST_STACK_KIB = 8192
/** And timers, which each have one. */
const WAITING_SIGNALS = 1024

/** The descriptor on which the shell says how long its program took and how it ended. */
const ACCOUNT_FD = 3

/** A shell command that sets what resource limits can hold, runs its arguments and writes an account of them. */
export function limitsShell(limits: RunLimits): readonly string[] {
  const memoryKib = Math.ceil(limits.memoryBytes / KIB)
  const stackKib = Math.max(SMALLEST_STACK_KIB, Math.floor(memoryKib * 0.9))
  // The C library gives every thread a stack as large as the main thread's may become, and all of it is data.
  const dataKib = memoryKib * DATA_FACTOR + DATA_EXTRA_KIB + limits.processes * stackKib
  const settings = [
    `ulimit -c 0`,
    `ulimit -t ${Math.ceil(limits.cpuMs / 1000) + CPU_GRACE_S}`,
    `ulimit -d ${dataKib}`,
    `ulimit -s ${stackKib}`,
    `ulimit -f ${Math.ceil(limits.boxBytes / KIB) + 1}`,
    `ulimit -i ${WAITING_SIGNALS}`,
    `ulimit -n ${Math.max(limits.openFiles, 8)}`,
  ].map((command) => `${command} 2>/dev/null`)
  const script = [
    ...settings,
    `TIMEFORMAT='%3U %3S'`,
    'exec 4>&2',
    // The times go to the account, the program's own errors where they belong.
    `{ time "$@" 2>&4 4>&- ${ACCOUNT_FD}>&-; } 2>&${ACCOUNT_FD}`,
    'code=$?',
    `echo "$code" >&${ACCOUNT_FD}`,
    'exit "$code"',
  ]
  // Without these words it would run our user's own start-up file: it takes a socket as standard input for a call from afar.
  return ['/bin/bash', '--noprofile', '--norc', '-c', script.join('\n'), 'bash']
}

/** What the account says: processor time and the program's code, null where the program took the shell with it. */
export function readAccount(text: string): { readonly cpuMs: number; readonly code: number } | null {
  const match = /(\d+)\.(\d{3}) (\d+)\.(\d{3})\n(\d+)\n$/.exec(text)
  if (match === null) return null
  const [, user = '0', userMs = '0', system = '0', systemMs = '0', code = '0'] = match
  return { cpuMs: (Number(user) + Number(system)) * 1000 + Number(userMs) + Number(systemMs), code: Number(code) }
}
