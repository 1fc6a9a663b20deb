import type { Processes } from '../local/processes.ts'
import { within } from '@parley/protocol'
import { exitCodeOf } from '../process/exit-code.ts'
import { type ExecBackend, type ExecSpec, retentionOf, StartRefused } from './exec-spec.ts'
import { StreamProcess } from './stream-process.ts'

/** Between SIGTERM and SIGKILL. */
const TERMINATE_GRACE_MS = 2_000

export interface LocalBackendOptions {
  readonly processes: Pick<Processes, 'start'>
  readonly graceMs?: number
  /** Whether each process has a PID namespace of its own. */
  readonly contained?: boolean
}

/** Processes of this machine, started by its spawner. Their bytes come straight from the pipe. */
export function localBackend(options: LocalBackendOptions): ExecBackend {
  return { start: (spec) => start(options, spec) }
}

async function start(
  { processes, graceMs = TERMINATE_GRACE_MS, contained = false }: LocalBackendOptions,
  spec: ExecSpec,
): Promise<StreamProcess> {
  if (spec.tty) throw new StartRefused('tty', 'tty: there is no terminal for a process here; start it with tty: false')
  const { argv, env, cwd, groupOutlivesLeader = false } = spec
  const [command, ...args] = argv
  const running = await processes.start({ command, args, env, cwd, groupOutlivesLeader, contained })
  const { stdin, stdout, stderr, closed } = running
  const terminate = async (isForced: boolean): Promise<void> => {
    if (!isForced) running.signal('SIGTERM')
    const kill = async (): Promise<void> => {
      if (
        !isForced &&
        (await within(
          closed.then(() => true),
          graceMs,
        )) === true
      )
        return
      await running.stop(0)
    }
    // Nobody waits for the grace: `closed` tells. A process that outlives SIGKILL hangs in the kernel and is nobody's to end.
    const killing = kill().catch(() => undefined)
    if (isForced) await killing
  }
  return new StreamProcess({
    processId: spec.processId,
    pipeStdin: spec.pipeStdin,
    retention: retentionOf(spec),
    streams: {
      stdin,
      stdout,
      stderr,
      closed,
      exitCode: running.exited.then(exitCodeOf),
      interrupt: () => running.signal('SIGINT'),
      terminate,
    },
  })
}
