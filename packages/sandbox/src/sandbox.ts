import type { Readable, Writable } from 'node:stream'

/** What the kernel and we enforce for one run. Each is a hard bound; going over one ends the run with its own status. */
export interface RunLimits {
  /** User and system time of the whole tree of processes. */
  readonly cpuMs: number
  /** From start to end by the clock, however idle. */
  readonly wallMs: number
  /**
   * How far the clock's end may be moved for a program that is starved: by what it waited for a processor that others had, as long as
   * that is all within this. Left out, it is not moved.
   */
  readonly starvedWallMs?: number
  readonly memoryBytes: number
  /** What may be written to standard output and standard error, each. */
  readonly outputBytes: number
  /** Processes and threads alive at once, the first included. */
  readonly processes: number
  /** What the files in the box may hold together. */
  readonly boxBytes: number
  readonly openFiles: number
}

/** How a run ended. The first limit that was passed names it; `sandbox-error` is our own failure and never the program's. */
export const RUN_STATUSES = [
  'ok',
  'nonzero',
  'signal',
  'cpu-limit',
  'wall-limit',
  'memory-limit',
  'output-limit',
  'process-limit',
  'sandbox-error',
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/**
 * A file that the program finds in its box: put there before it starts, readable, never the original to write to. A large one (above 128 KiB) does
 * not count in `boxBytes`, and with namespaces the program can neither remove nor replace it; it is not to be named in `keep`.
 */
export interface BoxFile {
  /** A path below the box, `/` between its parts, no `..`. */
  readonly name: string
  /** The file on this machine, or its bytes. */
  readonly from: { readonly path: string } | { readonly bytes: Uint8Array }
  readonly executable?: boolean
}

/** A file that the program is to leave behind in its box, taken out after the run if it is a plain file within its bound. */
export interface KeptFile {
  readonly name: string
  /** Where it goes on this machine; a file of that name is replaced. */
  readonly to: string
  readonly limitBytes: number
}

export type RunInput =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string }

/** One program, once. The box is empty but for `files`; nothing of an earlier run is there. */
export interface RunRequest {
  /** The program by its path inside, and its arguments. The working folder is the box. */
  readonly argv: readonly [string, ...string[]]
  /** All that the program finds in its environment. */
  readonly environment?: Readonly<Record<string, string>>
  readonly files?: readonly BoxFile[]
  /** Folders and files of this machine that are readable inside at the same path, for this run alone. */
  readonly readable?: readonly string[]
  readonly keep?: readonly KeptFile[]
  readonly stdin?: RunInput
  /** How much of each stream comes back in the outcome; the rest counts and is dropped. */
  readonly captureBytes?: { readonly stdout: number; readonly stderr: number }
  /** Hears what comes back in the outcome already as it is said; the order between the two streams is not kept. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void
  readonly limits: RunLimits
}

/** A program whose streams are not the request's to say. */
export type LiveRequest = Omit<RunRequest, 'stdin' | 'captureBytes' | 'onOutput'>

/** What one stream of a run gave. */
export interface RunOutput {
  readonly bytes: Uint8Array
  /** How much was written in all, up to the output limit. */
  readonly totalBytes: number
}

/** Everything that is known about a run, as data. */
export interface RunOutcome {
  readonly status: RunStatus
  /** Null when a signal or a limit ended it or it never ran. */
  readonly exitCode: number | null
  /**
   * `SIGSEGV` and the like; null when it ended by itself. Where a limit ended the run it is `SIGKILL`, also when that met a child
   * and the first process, seeing it die, came to end by itself with a code of its own.
   */
  readonly signal: string | null
  readonly cpuMs: number
  readonly wallMs: number
  /**
   * How long it was starved: ready to run while others had the processors. Read when the clock's end has come and may be moved, and at
   * the end of one that is joined to another; null otherwise, and where the kernel does not count it. Rather too little than too much:
   * processes and threads that ended before are not in it.
   */
  readonly starvedMs: number | null
  /** Peak, up to the memory limit: what was taken beyond it before the end came is chance. */
  readonly memoryBytes: number
  readonly stdout: RunOutput
  readonly stderr: RunOutput
  /** Names of `keep` that were taken out. */
  readonly kept: readonly string[]
  /** One sentence for `sandbox-error`, and for a kept file that was not taken. */
  readonly message: string | null
}

/** Two programs whose streams are joined: what one writes the other reads. */
export interface InteractRequest {
  /** The one under judgement; its output limit counts what it says to the other. */
  readonly program: Omit<RunRequest, 'stdin' | 'captureBytes'>
  readonly interactor: Omit<RunRequest, 'stdin' | 'captureBytes'>
  /** How much of each one's standard error comes back. */
  readonly captureBytes: number
}
export interface InteractOutcome {
  readonly program: RunOutcome
  readonly interactor: RunOutcome
  /** Which of the two ended first: the program's broken pipe is then no fault of its own. An interactor's pipe never breaks. */
  readonly endedFirst: 'program' | 'interactor'
}

/**
 * A place to run programs in, one at a time, kept warm between runs. Its user, network, host name and shared memory are
 * its own; every run gets a fresh box, `/tmp`, `/proc` and process numbering.
 */
export interface Box {
  /** Runs one program. Aborting kills the whole tree and answers what was seen until then, as `signal`. Never rejects for anything a program does. */
  run(request: RunRequest, signal?: AbortSignal): Promise<RunOutcome>
  /** Ends everything inside. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * No network but one way out: whatever connects to `port` of the box's own loopback talks to the socket file, which its owner
 * listens on and which is visible inside. Whoever owns the socket decides what may pass.
 */
export interface ProxyNetwork {
  readonly kind: 'proxy'
  readonly port: number
  readonly socketPath: string
  /**
   * Whether programs may have local sockets beside: whoever sees the file of one in what is shown reaches its listener then. Without, they
   * have connected pairs alone, as in any other box.
   */
  readonly localSockets: boolean
}

/** A program in a box of its own whose streams are live. They are not counted: whoever reads them bounds them by reading. */
export interface LiveProgram {
  /** The process on this machine that holds the box; everything inside ends with it. */
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when everything inside has ended and the box is gone. Never rejects for anything the program does. */
  readonly ended: Promise<RunOutcome>
  /** Ends everything inside; `ended` tells when that is done. */
  kill(): void
}

/** A name that no program in a box may make or see, and what an empty one is. */
export interface Placeholder {
  readonly path: string
  readonly kind: 'folder' | 'file'
}

/** What the inside looks like. */
export type BoxProfile =
  /** A private root with nothing but what programs and compilers need, read-only; `readable` adds to it for the life of the box. */
  | { readonly kind: 'judge'; readonly readable?: readonly string[] }
  /**
   * An allow-list: the folders of the system and a list of its settings, `folder`, `alsoWritable` and `readable`, by their real paths,
   * and nothing else of the machine. `hidden` is not there, also where it lies in one of these; what is named in a hidden folder is.
   * `unlinked` refuses a `folder` that is, or lies behind, a link: for whoever resolved it when the work there began.
   * `placeholders` are names in what is writable that no program may make or see: where there is none, an empty one is there while
   * boxes are.
   * `folder` is the working folder, writable on demand save its `.git`, which is read-only as a whole, also when there is none yet;
   * `alsoWritable` are more folders, of the same owner. `network`: none but its own loopback, that of the host, or its own loopback
   * with one way out. Sockets of the host cannot be connected to, but where the last kind says so.
   */
  | {
      readonly kind: 'workspace'
      readonly folder: string
      readonly unlinked?: boolean
      readonly hidden?: readonly string[]
      readonly placeholders?: readonly Placeholder[]
      readonly readable?: readonly string[]
      readonly writable: boolean
      readonly alsoWritable?: readonly string[]
      readonly network?: 'none' | 'host' | ProxyNetwork
    }

/** What holds on this machine, in words for a person and as data for a program. It is part of every verdict's report. */
export interface SandboxReport {
  readonly driver: 'cage' | 'bwrap' | 'none'
  /** `namespaces+cgroup2`, `namespaces+cgroup1`, `namespaces`, `landlock`, `bwrap`, `none`. */
  readonly tier: string
  /** What is enforced, by name: memory, processes, network, files, system calls, … and how. */
  readonly enforced: Readonly<Record<string, string>>
  /** What is not, and what would make it so. */
  readonly missing: readonly string[]
}

/** Starts one program in a box of its own. */
export type StartLive = (profile: BoxProfile, request: LiveRequest, signal?: AbortSignal) => Promise<LiveProgram>

/** One way to isolate. */
export interface Sandbox {
  readonly report: SandboxReport
  openBox(profile: BoxProfile): Promise<Box>
  /**
   * Why this sandbox cannot hold all that the workspace profile promises; undefined: it holds. Then it is not for programs that a
   * model chose: a folder to write in is refused, one to read is shown as well as can be.
   */
  readonly unheldWorkspace?: string
  /**
   * Starts a program with live streams in a box of its own, which ends with it; aborting kills it. Left out where a box cannot
   * have a network of its own: then nothing can be held that must reach one thing and no other.
   */
  readonly start?: StartLive
  /** Both programs run at once, each in its own box under its own user. */
  interact(program: Box, interactor: Box, request: InteractRequest, signal?: AbortSignal): Promise<InteractOutcome>
}

/** The sandbox could not be made ready; `hint` says what to install or allow. */
export class SandboxUnavailable extends Error {
  readonly code = 'sandbox_unavailable'
  readonly hint: string
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SandboxUnavailable'
    this.hint = hint
  }
}

/** How to open the sandbox of this machine. */
export interface SandboxOptions {
  /** `auto` takes `cage`, or `bwrap` where nothing can be compiled; `none` is never taken unless asked for. */
  readonly driver: 'auto' | 'cage' | 'bwrap' | 'none'
  /** Where the compiled helper is kept. */
  readonly cacheFolder: string
  /** Where boxes keep what they need while they live; made if missing, mode 700. */
  readonly runFolder: string
  /** Takes this tier of `cage` and no other. Left out, the strongest that passes its own check is taken. */
  readonly tier?: 'root' | 'user-namespaces' | 'landlock'
}
