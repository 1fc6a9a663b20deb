import { isAbsolute, resolve } from 'node:path'
import { type BoxProfile, type RunLimits, type RunOutcome, type StartLive, type UnseenPart, unseenPart } from '@parley/sandbox'
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
  const path = seenCommand(argv[0], spec, options.profile)
  const live = await options.start(
    { ...options.profile, kind: 'workspace', folder: cwd },
    { argv: [path, ...argv.slice(1)], environment: env, limits: { ...UNHURRIED, ...options.limits } },
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
      failure: ended.then((outcome) => failureOf(path, outcome)),
      closed: Promise.all([closing(stdout), closing(stderr)]).then(() => undefined),
      terminate: () => {
        live.kill()
        return Promise.resolve()
      },
    },
  })
}

/** Where a program is. One that the box does not show is refused with words: inside nobody could tell what is missing. */
function seenCommand(
  command: string,
  { cwd, env }: ExecSpec,
  { readable = [], alsoWritable = [] }: BoxedBackendOptions['profile'],
): string {
  const shown = [cwd, ...readable, ...alsoWritable]
  const refuseUnseen = (path: string): void => {
    const unseen = unseenPart(path, shown)
    if (unseen !== undefined) throw new StartRefused('argv', unseenText(command, unseen))
  }
  // Before it is looked for: whether something is there that is not shown is nobody's to know.
  if (command.includes('/')) refuseUnseen(isAbsolute(command) ? command : resolve(cwd, command))
  const found = findCommand(command, cwd, env['PATH'])
  if (found.kind === 'missing')
    throw new StartRefused('argv', command.includes('/') ? found.message : `${found.message} of the box, ${env['PATH']}; ${SHOW}`)
  refuseUnseen(found.path)
  return found.path
}

const SHOW = '[sandbox] read (PARLEY_SANDBOX_READ) where it runs shows the folder of a program'

function unseenText(command: string, { path, part, folder }: UnseenPart): string {
  const shows = `[sandbox] read = [${JSON.stringify(folder)}] where it runs, or PARLEY_SANDBOX_READ=${folder}, shows it`
  switch (part) {
    case 'program':
      return `cannot run ${command}: the box does not show ${path}; ${shows}`
    case 'target':
      return `cannot run ${command}: it leads to ${path}, which the box does not show; ${shows}`
    case 'interpreter':
      return `cannot run ${command}: it is run by ${path}, which the box does not show; ${shows}`
  }
}

function boxedExitCode({ exitCode, signal }: RunOutcome): number {
  return exitCodeOf({ code: exitCode, signal })
}

/** A program that could not be run in its box has no exit code, only words. */
function failureOf(path: string, { status, message }: RunOutcome): string | undefined {
  return status === 'sandbox-error' ? `cannot run ${path}: ${message ?? 'its box failed'}` : undefined
}

/** A box that is gone leaves nobody who could write. */
function closing(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.once('end', resolve)
  })
}
