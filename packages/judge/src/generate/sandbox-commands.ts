import { isAbsolute, relative } from 'node:path'
import type { CommandOutcome, CommandRequest, Commands } from '@parley/agent'
import type { Box, RunLimits, RunOutcome, Sandbox } from '@parley/sandbox'
import { FolderGuard } from './folder-guard.ts'
import { nestedRepositories } from './nested-repositories.ts'

const MIB = 1024 * 1024

/** What a command of an engine may take, beside the time that it asks for. */
export interface CommandLimits extends Omit<RunLimits, 'wallMs' | 'cpuMs' | 'outputBytes'> {
  /** No command gets more, whatever it asks for. */
  readonly timeoutMs: number
  /** A command that says more than this is ended. */
  readonly outputBytes: number
  /** Commands of one conversation at once; others wait. */
  readonly atOnce: number
  readonly waiting: number
  /** What the working folder may hold in all; a command that writes more is ended. */
  readonly folderBytes: number
  readonly folderEntries: number
}

const COMMAND_LIMITS: CommandLimits = {
  timeoutMs: 10 * 60_000,
  memoryBytes: 2 * 1024 * MIB,
  processes: 256,
  outputBytes: 64 * MIB,
  boxBytes: 512 * MIB,
  openFiles: 1_024,
  atOnce: 2,
  waiting: 32,
  folderBytes: 1024 * MIB,
  folderEntries: 100_000,
}

export interface SandboxCommandsOptions {
  readonly sandbox: Sandbox
  /** The folder of the conversation: all that a command may write to. */
  readonly folder: string
  /** What no command may see beside the homes: data, other jobs. What lies in `folder` stays visible. */
  readonly hidden: readonly string[]
  /** Whether a command that asks for a network gets that of the host; otherwise it is refused. */
  readonly network: boolean
  /** What commands may read beside the system and the folder: toolchains. */
  readonly readable?: readonly string[]
  /** Variables of commands beside the usual ones; PATH among them replaces the usual one. */
  readonly environment?: Readonly<Record<string, string>>
  /** Hears of what a person should know before using the folder: repositories that commands left in it. */
  readonly warn?: (message: string) => void
  readonly limits?: Partial<CommandLimits>
}

/** The commands of one conversation. */
export interface SandboxCommands extends Commands {
  /** Ends what runs and gives up the boxes. Commands that come later are refused. */
  close(): Promise<void>
}

/** Starts in a folder, finds the program by its name, and leaves no shell around it. */
const START = 'cd -- "$1" && shift && exec "$@"'
/** The home is the box's own: it is new with every command. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/box', LANG: 'C.UTF-8', TERM: 'dumb' }
const NOTHING: Uint8Array = new Uint8Array()
const OUTPUT_SILENT_BYTES = 1
/** Repositories that are told of, one line each. */
const TOLD_MAX = 16
const FULL = 'the working folder holds more than it may'

/** Runs the commands of one conversation in the workspace profile of the sandbox. Without a sandbox there are none. */
export function openSandboxCommands(options: SandboxCommandsOptions): SandboxCommands {
  return new BoxedCommands(options)
}

class BoxedCommands implements SandboxCommands {
  readonly #options: SandboxCommandsOptions
  readonly #limits: CommandLimits
  readonly #idle = new Map<string, Box[]>()
  readonly #boxes = new Set<Box>()
  readonly #waiting: (() => void)[] = []
  readonly #closing = new AbortController()
  readonly #guard: FolderGuard
  readonly #told = new Set<string>()
  readonly #underWay = new Set<Promise<unknown>>()
  #running = 0

  constructor(options: SandboxCommandsOptions) {
    this.#options = options
    this.#limits = { ...COMMAND_LIMITS, ...options.limits }
    const { folderBytes, folderEntries } = this.#limits
    this.#guard = new FolderGuard(options.folder, { bytes: folderBytes, entries: folderEntries })
  }

  async run(
    request: CommandRequest,
    output: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<CommandOutcome> {
    const refusal = this.#refusal(request)
    if (refusal !== undefined) return refused(refusal)
    const either = AbortSignal.any([signal, this.#closing.signal])
    const running = this.#run(request, output, either)
    this.#underWay.add(running)
    try {
      return await running
    } finally {
      this.#underWay.delete(running)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const wake of this.#waiting.splice(0)) wake()
    await Promise.allSettled(this.#underWay)
    await Promise.allSettled([...this.#boxes].map((box) => box.close()))
    this.#boxes.clear()
  }

  /** What cannot be kept is not begun. */
  #refusal({ argv, folder, reach, network }: CommandRequest): string | undefined {
    const { report, unheldWorkspace } = this.#options.sandbox
    if (report.driver === 'none') return 'there is no sandbox on this machine, so no command is run'
    if (unheldWorkspace !== undefined) return `no command is run: ${unheldWorkspace}; parley sandbox check says more`
    if (argv.length === 0 || argv[0] === '') return 'argv: must begin with a program'
    if (reach === 'full-access') return 'commands reach no further than the working folder here'
    if (network && !this.#options.network) return 'commands have no network here'
    const below = relative(this.#options.folder, folder)
    if (below.startsWith('..') || isAbsolute(below)) return `folder: ${folder} is outside the working folder`
    return this.#waiting.length >= this.#limits.waiting ? 'too many commands wait already' : undefined
  }

  async #run(
    request: CommandRequest,
    output: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<CommandOutcome> {
    await this.#turn(signal)
    try {
      if (await this.#guard.isOver()) return refused(`${FULL}; delete files by apply_patch before another command`)
      if (signal.aborted) return refused('the command was cancelled before it began')
      const key = `${request.reach} ${request.network}`
      const box = this.#idle.get(key)?.pop() ?? (await this.#open(request))
      let isFull = false
      const outcome = await this.#guard.watch(async (full) => {
        const ran = await box.run(this.#order(request, output), AbortSignal.any([signal, full]))
        isFull = full.aborted
        return ran
      })
      if (request.reach === 'workspace-write') await this.#tellRepositories()
      if (outcome.status === 'sandbox-error') await this.#giveUp(box)
      else this.#idle.set(key, [...(this.#idle.get(key) ?? []), box])
      return { ...outcomeOf(outcome, request), ...(isFull ? { message: `ended: ${FULL}` } : {}) }
    } catch (error) {
      return refused(`the sandbox failed: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }

  /** The folder's own repository is read-only to commands; others in it are not, and git obeys the settings of each. */
  async #tellRepositories(): Promise<void> {
    for (const path of await nestedRepositories(this.#options.folder)) {
      if (this.#told.size >= TOLD_MAX || this.#told.has(path)) continue
      this.#told.add(path)
      this.#options.warn?.(`${path} is a repository inside the working folder: git runs programs that its settings name`)
    }
  }

  /** Waits for a place, or for the end. */
  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#running >= this.#limits.atOnce)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
        signal.addEventListener(
          'abort',
          () => {
            const index = this.#waiting.indexOf(resolve)
            if (index >= 0) this.#waiting.splice(index, 1)
            resolve()
          },
          { once: true },
        )
      })
    this.#running += 1
  }

  async #open({ reach, network }: CommandRequest): Promise<Box> {
    const { sandbox, folder, hidden, readable = [] } = this.#options
    const writable = reach === 'workspace-write'
    const box = await sandbox.openBox({
      kind: 'workspace',
      folder,
      hidden,
      readable,
      writable,
      network: network ? 'host' : 'none',
    })
    this.#boxes.add(box)
    return box
  }

  async #giveUp(box: Box): Promise<void> {
    this.#boxes.delete(box)
    await box.close()
  }

  #order(
    { argv, folder, timeoutMs, outputBytes }: CommandRequest,
    output: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void,
  ) {
    const { timeoutMs: mostMs, memoryBytes, processes, boxBytes, openFiles, outputBytes: mostBytes } = this.#limits
    const wallMs = Math.max(1, Math.min(timeoutMs, mostMs))
    const kept = Math.max(OUTPUT_SILENT_BYTES, Math.min(outputBytes, mostBytes))
    return {
      argv: ['/bin/sh', '-c', START, 'sh', folder, ...argv] as const,
      environment: { ...ENVIRONMENT, ...this.#options.environment },
      captureBytes: { stdout: kept, stderr: kept },
      onOutput: output,
      // A command may keep every core busy for as long as it may take.
      limits: { wallMs, cpuMs: wallMs * CORES_COUNTED, memoryBytes, processes, boxBytes, openFiles, outputBytes: mostBytes },
    } satisfies Parameters<Box['run']>[0]
  }
}

/** Processor time is bounded too, but by the clock first: a build may use many cores. */
const CORES_COUNTED = 64

function outcomeOf(outcome: RunOutcome, { timeoutMs }: CommandRequest): CommandOutcome {
  const { status, exitCode, signal, stdout, stderr, wallMs } = outcome
  return {
    exitCode,
    signal,
    timedOut: status === 'wall-limit' || status === 'cpu-limit',
    message: WORDS[status]?.(timeoutMs) ?? (status === 'sandbox-error' ? outcome.message : null),
    stdout: stdout.bytes,
    stderr: stderr.bytes,
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    durationMs: wallMs,
  }
}

const WORDS: Partial<Record<RunOutcome['status'], (timeoutMs: number) => string>> = {
  'wall-limit': (timeoutMs) => `ended after ${Math.round(timeoutMs / 1_000)} s`,
  'cpu-limit': () => 'ended: it used too much processor time',
  'memory-limit': () => 'ended: it used too much memory',
  'output-limit': () => 'ended: it printed too much',
  'process-limit': () => 'ended: it started too many processes',
}

const refused = (message: string): CommandOutcome => ({
  exitCode: null,
  signal: null,
  timedOut: false,
  message,
  stdout: NOTHING,
  stderr: NOTHING,
  stdoutBytes: 0,
  stderrBytes: 0,
  durationMs: 0,
})
