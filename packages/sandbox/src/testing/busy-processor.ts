import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** They end by themselves when they have used so much, whatever becomes of the test. */
const CPU_SECONDS = 60

/** The last processor that this process may use. */
export function lastProcessor(): number {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return Number(/(\d+)$/.exec(allowed)?.[1] ?? 0)
}

/** The command on that processor alone. */
export function pinned(processor: number, command: readonly string[]): [string, ...string[]] {
  return ['/usr/bin/taskset', '--cpu-list', String(processor), ...command]
}

/**
 * Programs that compute without end on one processor, as important as anything else there: whoever is bound to it too gets one part of
 * it in `count + 1`. Each has a session of its own, since some kernels share by session.
 */
export async function keepBusy(processor: number, count: number): Promise<AsyncDisposable> {
  const command = pinned(processor, ['/bin/sh', '-c', `ulimit -t ${CPU_SECONDS}; echo busy; while :; do :; done`])
  const [program, ...words] = command
  const spinners = Array.from({ length: count }, () =>
    spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], detached: true }),
  )
  await Promise.all(spinners.map(({ stdout }) => once(stdout, 'data')))
  return { [Symbol.asyncDispose]: () => Promise.all(spinners.map(end)).then(() => undefined) }
}

async function end(spinner: ChildProcess): Promise<void> {
  if (spinner.exitCode !== null || spinner.signalCode !== null) return
  const gone = once(spinner, 'exit')
  spinner.kill('SIGKILL')
  await gone
}
