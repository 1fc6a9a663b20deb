import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { type CommandOutcome, type CommandRequest, type Commands, refusedCommand } from '@parley/agent'
import { messageOf } from '@parley/protocol'
import type { Box, Placeholder, RunLimits, Sandbox } from '@parley/sandbox'
import { type OutputListener, networkTo, NODE, openAccess } from './command-access.ts'
import type { CommandDoor } from './command-door.ts'
import { outcomeOf } from './command-outcome.ts'
import { FolderWatch } from './folder-watch.ts'
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
  /** It was found to be there without links, so one that leads elsewhere by now is refused. */
  readonly unlinked?: boolean
  /** What no command may see beside the homes: data, other jobs. What lies in `folder` stays visible. */
  readonly hidden: readonly string[]
  /** More of that, and names that no command may make, asked before each one: what is answered holds for it. */
  readonly names?: () => HeldNames
  /** Whether a command that asks for a network gets that of the host; otherwise it is refused. */
  readonly network: boolean
  /** What commands may read beside the system and the folder: toolchains. */
  readonly readable?: readonly string[]
  /** Variables of commands beside the usual ones; PATH among them replaces the usual one. */
  readonly environment?: Readonly<Record<string, string>>
  /** What commands without the host's network can reach, each with a token of its own. */
  readonly door?: CommandDoor
  /** Hears of what a person should know before using the folder: repositories that commands left in it. */
  readonly warn?: (message: string) => void
  readonly limits?: Partial<CommandLimits>
}

/** What holds for the next command. */
export interface HeldNames {
  readonly hidden: readonly string[]
  readonly placeholders: readonly Placeholder[]
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
const OUTPUT_SILENT_BYTES = 1
/** Lines about repositories. */
const TOLD_MAX = 32
const FULL = 'the working folder holds more than it may'

/** Runs the commands of one conversation in the workspace profile of the sandbox. Without a sandbox there are none. */
export function openSandboxCommands(options: SandboxCommandsOptions): SandboxCommands {
  return new BoxedCommands(options)
}

class BoxedCommands implements SandboxCommands {
  readonly #options: SandboxCommandsOptions
  readonly #limits: CommandLimits
  /** Without links, as it was when the conversation began. */
  readonly #folder: string
  /** Each box, and what held when it was opened. */
  readonly #boxes = new Map<Box, string>()
  readonly #idle = new Set<Box>()
  readonly #waiting: (() => void)[] = []
  readonly #closing = new AbortController()
  readonly #folderWatch: FolderWatch
  readonly #told = new Set<string>()
  readonly #underWay = new Set<Promise<unknown>>()
  #running = 0

  constructor(options: SandboxCommandsOptions) {
    this.#options = options
    this.#limits = { ...COMMAND_LIMITS, ...options.limits }
    const { folderBytes, folderEntries } = this.#limits
    this.#folder = options.unlinked !== true && existsSync(options.folder) ? realpathSync(options.folder) : options.folder
    this.#folderWatch = new FolderWatch(this.#folder, { bytes: folderBytes, entries: folderEntries })
  }

  async run(request: CommandRequest, output: OutputListener, signal: AbortSignal): Promise<CommandOutcome> {
    const refusal = this.#refusal(request)
    if (refusal !== undefined) return refusedCommand(refusal)
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
    await Promise.allSettled([...this.#boxes.keys()].map((box) => box.close()))
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

  async #run(request: CommandRequest, output: OutputListener, signal: AbortSignal): Promise<CommandOutcome> {
    await this.#turn(signal)
    try {
      if (await this.#folderWatch.isOver()) return refusedCommand(`${FULL}; delete files by apply_patch before another command`)
      if (signal.aborted) return refusedCommand('the command was cancelled before it began')
      const box = await this.#take(request)
      let isFull = false
      const { ran: outcome, told } = await this.#folderWatch.watch(async (full) => {
        const ran = await this.#inBox(box, request, output, AbortSignal.any([signal, full]))
        isFull = full.aborted
        return ran
      })
      if (request.reach === 'workspace-write') await this.#tellRepositories()
      if (outcome.status === 'sandbox-error') await this.#giveUp(box)
      else this.#idle.add(box)
      return { ...told, ...(isFull ? { message: `ended: ${FULL}` } : {}) }
    } catch (error) {
      return refusedCommand(`the sandbox failed: ${messageOf(error)}`)
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }

  /** Its way to the door ends with it. */
  async #inBox(box: Box, request: CommandRequest, output: OutputListener, signal: AbortSignal) {
    const { door } = this.#options
    const environment = { ...ENVIRONMENT, ...this.#options.environment }
    const access = door === undefined || request.network ? undefined : openAccess(door, environment, output)
    try {
      const order = this.#order(request, access?.output ?? output)
      const ran = await box.run({ ...order, environment, ...access?.order }, signal)
      const told = outcomeOf(ran, request)
      return { ran, told: access?.told(told) ?? told }
    } finally {
      access?.end()
    }
  }

  /** The folder's own repository is read-only to commands; others in it are not, and git obeys the settings of each. */
  async #tellRepositories(): Promise<void> {
    const { found, unseen, isCut } = await nestedRepositories(this.#folder)
    for (const path of found)
      this.#tell(`${path} is a repository inside the working folder: git runs programs that its settings name`)
    for (const path of unseen) this.#tell(`${path} cannot be listed and could hold a repository, whose settings git would obey`)
    if (isCut) this.#tell(`${this.#folder} holds more than was searched for repositories, whose settings git would obey`)
  }

  /** Each line once. */
  #tell(line: string): void {
    if (this.#told.size >= TOLD_MAX || this.#told.has(line)) return
    this.#told.add(line)
    this.#options.warn?.(line)
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

  /** A box in which all that is to be covered is. What was made, replaced or removed since one was opened is not covered there. */
  async #take(request: CommandRequest): Promise<Box> {
    const names = this.#options.names?.() ?? NO_NAMES
    const held = this.#heldAs(names)
    for (const box of this.#idle) {
      const key = this.#boxes.get(box)
      if (key === keyOf(request, held)) {
        this.#idle.delete(box)
        return box
      }
      if (key?.endsWith(held) !== true) {
        this.#idle.delete(box)
        await this.#giveUp(box)
      }
    }
    const box = await this.#open(request, names)
    this.#boxes.set(box, keyOf(request, this.#heldAs(names)))
    return box
  }

  /** All that is to be covered, and what it is. */
  #heldAs({ hidden, placeholders }: HeldNames): string {
    const paths = [...this.#options.hidden, ...hidden, ...placeholders.map(({ path }) => path)]
    return JSON.stringify(paths.map((path) => [path, identityOf(path)]))
  }

  async #open({ reach, network }: CommandRequest, names: HeldNames): Promise<Box> {
    const { sandbox, hidden, readable = [], door } = this.#options
    const writable = reach === 'workspace-write'
    return sandbox.openBox({
      kind: 'workspace',
      folder: this.#folder,
      unlinked: true,
      hidden: [...hidden, ...names.hidden],
      placeholders: names.placeholders,
      readable: door === undefined ? readable : [...readable, NODE],
      writable,
      network: network ? 'host' : door === undefined ? 'none' : networkTo(door),
    })
  }

  async #giveUp(box: Box): Promise<void> {
    this.#boxes.delete(box)
    await box.close()
  }

  #order({ argv, folder, timeoutMs, outputBytes }: CommandRequest, output: OutputListener) {
    const { timeoutMs: mostMs, memoryBytes, processes, boxBytes, openFiles, outputBytes: mostBytes } = this.#limits
    const wallMs = Math.max(1, Math.min(timeoutMs, mostMs))
    const kept = Math.max(OUTPUT_SILENT_BYTES, Math.min(outputBytes, mostBytes))
    const place = join(this.#folder, relative(this.#options.folder, folder))
    return {
      argv: ['/bin/sh', '-c', START, 'sh', place, ...argv] as const,
      captureBytes: { stdout: kept, stderr: kept },
      onOutput: output,
      // A command may keep every core busy for as long as it may take.
      limits: { wallMs, cpuMs: wallMs * CORES_COUNTED, memoryBytes, processes, boxBytes, openFiles, outputBytes: mostBytes },
    } satisfies Parameters<Box['run']>[0]
  }
}

const NO_NAMES: HeldNames = { hidden: [], placeholders: [] }
const keyOf = ({ reach, network }: CommandRequest, held: string): string => `${reach} ${network} ${held}`

function identityOf(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}`
}

/** Processor time is bounded too, but by the clock first: a build may use many cores. */
const CORES_COUNTED = 64
