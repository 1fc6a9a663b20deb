import type { BoxProfile, RunLimits, RunOutcome, StartLive } from '@parley/sandbox'
import { findCommand } from '../local/find-command.ts'
import { exitCodeOf } from '../process/exit-code.ts'
import { type ExecBackend, type ExecSpec, retentionOf, StartRefused } from './exec-spec.ts'
import { StreamProcess } from './stream-process.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const DAYS_30_MS = 30 * 24 * 3_600_000

/** What holds where nobody asked for less: a server may stay for weeks, and none needs more than a machine has. */
const UNHURRIED: RunLimits = {
  cpuMs: DAYS_30_MS,
  wallMs: DAYS_30_MS,
  memoryBytes: 64 * GIB,
  outputBytes: 1024 * GIB,
  processes: 4_096,
  boxBytes: GIB,
  openFiles: 4_096,
}

type WorkspaceProfile = Extract<BoxProfile, { kind: 'workspace' }>

export interface BoxedBackendOptions {
  /** `Sandbox.start`. */
  readonly start: StartLive
  /** What is seen inside besides the folder that a process works in, and what it reaches. */
  readonly profile: Omit<WorkspaceProfile, 'kind' | 'folder'>
  readonly limits?: Partial<RunLimits>
}

/**
 * Processes in the sandbox, each in a box of its own that goes with it. There is no terminal and no signal inside: ending one kills
 * everything in its box at once.
 */
export function boxedBackend(options: BoxedBackendOptions): ExecBackend {
  return { start: (spec) => start(options, spec) }
}

async function start(options: BoxedBackendOptions, spec: ExecSpec): Promise<StreamProcess> {
  if (spec.tty) throw new StartRefused('tty', 'tty: there is no terminal in a box; start it with tty: false')
  const { argv, env, cwd } = spec
  const found = findCommand(argv[0], cwd, env['PATH'])
  if (found.kind === 'missing') throw new StartRefused('argv', found.message)
  const live = await options.start(
    { ...options.profile, kind: 'workspace', folder: cwd },
    { argv: [found.path, ...argv.slice(1)], environment: env, limits: { ...UNHURRIED, ...options.limits } },
  )
  const { stdin, stdout, stderr, ended } = live
  return new StreamProcess({
    processId: spec.processId,
    pipeStdin: spec.pipeStdin,
    retention: retentionOf(spec),
    streams: {
      stdin,
      stdout,
      stderr,
      exitCode: ended.then(boxedExitCode),
      closed: Promise.all([closing(stdout), closing(stderr)]).then(() => undefined),
      terminate: () => {
        live.kill()
        return Promise.resolve()
      },
    },
  })
}

function boxedExitCode({ exitCode, signal }: RunOutcome): number {
  return exitCodeOf({ code: exitCode, signal })
}

/** A box that is gone leaves nobody who could write. */
function closing(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.once('end', resolve)
  })
}
