import { type ChildProcess, execFile, spawn } from 'node:child_process'
import type { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { FRAME, FrameReader, FrameSplitter, FrameWriter, type Frame } from './frame.ts'
import { type BoxProfile, SandboxUnavailable } from '../sandbox.ts'
import { realPathOf } from '../workspace/real-path.ts'
import { type SettledWorkspace, settleWorkspace } from '../workspace/settle-profile.ts'

const run = promisify(execFile)
const CLOSE_GRACE_MS = 5000
/** It waits for itself, and gives up sooner. */
const SWEEP_TIMEOUT_MS = 60_000
const COMPLAINT_BYTES = 4096
const LIVE_STREAMS: readonly 'pipe'[] = ['pipe', 'pipe', 'pipe']

/** What a program reads and writes; each goes both ways for us, and one way is used. */
export interface ProgramStreams {
  readonly stdin: Duplex
  readonly stdout: Duplex
  readonly stderr: Duplex
}

/** How strongly the helper isolates, as it numbers it. */
export const TIER = { root: 1, 'user-namespaces': 2, landlock: 3 } as const
export type Tier = keyof typeof TIER

/** What the helper found when it opened. */
export interface Ground {
  readonly tier: Tier
  /** Version of the cgroup hierarchy that counts for us, or 0. */
  readonly cgroup: number
  readonly landlockVersion: number
  /** The cgroup says when it refused a process. */
  readonly tellsRefusals: boolean
  /** Without namespaces the box is a real folder: this one. Else it is `/box` inside. */
  readonly folder: string
}

/** How to start one. */
export interface CageStart {
  readonly binary: string
  readonly runFolder: string
  readonly tier: Tier
  readonly profile: BoxProfile
  /** For one program whose streams are the owner's own. */
  readonly isLive?: boolean
}

/** The process behind one box, and the frames to and from it. */
export class CageProcess {
  readonly #child: ChildProcess
  readonly #splitter = new FrameSplitter()
  #waiting: ((frame: Frame | null) => void) | null = null
  #onOutput: ((frame: Frame) => void) | undefined
  readonly #binary: string
  /** A real folder that is the box's, once there is one. */
  #folder = ''
  #complaint = ''
  #gone = false
  #swept: Promise<void> | undefined

  /** With streams, three more descriptors are handed to the helper for its program. */
  constructor(binary: string, isLive = false) {
    const streams = isLive ? LIVE_STREAMS : []
    this.#binary = binary
    this.#child = spawn(binary, [], { stdio: ['pipe', 'pipe', 'pipe', ...streams], env: {}, cwd: '/' })
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(-COMPLAINT_BYTES)
    })
    // Its end is what counts; a broken pipe says nothing more.
    this.#child.stdin?.on('error', () => undefined)
    this.#child.on('error', (error) => this.#end(String(error)))
    this.#child.on('close', (code, signal) => {
      if (signal !== null) this.#swept = this.#sweep()
      this.#end(`it ended with ${signal ?? code}`)
    })
  }

  /** Sends a frame and waits for the answer; null when the helper is gone. What a run says meanwhile goes to `onOutput`. */
  ask(frame: Buffer, onOutput?: (frame: Frame) => void): Promise<Frame | null> {
    if (this.#gone) return Promise.resolve(null)
    this.#onOutput = onOutput
    return new Promise((resolve) => {
      this.#waiting = resolve
      this.tell(frame)
    })
  }

  tell(frame: Buffer): void {
    if (!this.#gone) this.#child.stdin?.write(frame)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** The program's own: only for a helper that was started with them. */
  get streams(): ProgramStreams {
    const all: readonly unknown[] = this.#child.stdio
    const [, , , stdin, stdout, stderr] = all
    if (!(stdin instanceof Duplex) || !(stdout instanceof Duplex) || !(stderr instanceof Duplex))
      throw new TypeError('this box has no live streams')
    return { stdin, stdout, stderr }
  }

  /** Why it is gone, in its own words where it left some. */
  get complaint(): string {
    return this.#complaint.trim()
  }

  /** Ends it and all that runs in its box. */
  async close(): Promise<void> {
    if (!this.#gone) await this.#endIt()
    await this.#swept
  }

  /** Where the box is a real folder, so that it can be removed for a helper that is killed. */
  ownsFolder(folder: string): void {
    this.#folder = folder
  }

  async #endIt(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.stdin?.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_GRACE_MS)
    await closed
    clearTimeout(timer)
  }

  /** Removes what a helper that was killed could not. Should that fail, the next box that is opened does it. */
  async #sweep(): Promise<void> {
    await run(this.#binary, ['sweep', String(this.pid), this.#folder], { env: {}, cwd: '/', timeout: SWEEP_TIMEOUT_MS }).catch(
      () => undefined,
    )
  }

  #receive(chunk: Buffer): void {
    for (const frame of this.#splitter.push(chunk)) {
      if (frame.type === FRAME.output) {
        this.#onOutput?.(frame)
        continue
      }
      const resolve = this.#waiting
      this.#waiting = null
      resolve?.(frame)
    }
  }

  #end(reason: string): void {
    if (this.#gone) return
    this.#gone = true
    this.#complaint = `${this.#complaint}${this.#complaint === '' ? '' : '; '}${reason}`
    this.#waiting?.(null)
    this.#waiting = null
  }
}

/** Starts a helper and has it make its box ready; SandboxUnavailable says why it cannot. */
export async function startCage(start: CageStart): Promise<{ readonly helper: CageProcess; readonly ground: Ground }> {
  const { profile } = start
  const opening = openFrame(start, profile.kind === 'workspace' ? settleWorkspace(profile) : undefined)
  const helper = new CageProcess(start.binary, start.isLive)
  const frame = await helper.ask(opening)
  if (frame?.type === FRAME.ready) {
    const from = new FrameReader(frame.payload)
    const [cgroup, landlockVersion, tellsRefusals] = [from.u32(), from.u32(), from.u32() === 1]
    const folder = from.rest().toString()
    helper.ownsFolder(folder)
    return { helper, ground: { tier: start.tier, cgroup, landlockVersion, tellsRefusals, folder } }
  }
  await helper.close()
  const why = frame === null ? helper.complaint : frame.payload.toString()
  throw new SandboxUnavailable(`the box cannot be made: ${why}`, 'run as root, or allow user namespaces')
}

/** What the helper is told. It opens each path once, and refuses one that is no longer as it was settled. */
export function openFrame({ tier, runFolder, profile, isLive }: CageStart, workspace?: SettledWorkspace): Buffer {
  const network = profile.kind === 'workspace' ? profile.network : undefined
  const proxy = typeof network === 'object' ? network : undefined
  return new FrameWriter()
    .u32(TIER[tier])
    .u32(workspace === undefined ? 0 : 1)
    .string(workspace === undefined ? runFolder : realPathOf(runFolder).path)
    .string(workspace?.folder ?? '')
    .u32(workspace?.isWritable === true ? 1 : 0)
    .u32(network === 'host' ? 1 : 0)
    .strings(workspace?.readable ?? profile.readable ?? [])
    .strings(workspace?.hidden ?? [])
    .strings(workspace?.alsoWritable ?? [])
    .strings([...(workspace?.links ?? [])].flat())
    .strings(workspace?.placeholders ?? [])
    .string(proxy?.socketPath ?? '')
    .u32(proxy?.port ?? 0)
    .u32(proxy?.localSockets === true ? 1 : 0)
    .u32(isLive === true ? 1 : 0)
    .finish(FRAME.open)
}
