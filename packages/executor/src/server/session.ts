import type { FramePeer } from '@parley/rpc/frame'
import { refusal } from '../api/error-code.ts'
import { type ExecBackend, type ExecSpec, retentionOf } from '../backend/exec-spec.ts'
import type { ExecProcess, Retention } from '../process/exec-process.ts'
import { Pusher } from './pusher.ts'
import type { ServerLimits } from './server-limits.ts'
import type { BytesUnderWay } from './under-way.ts'

/** A process that starts or runs. Its arguments and variables are not kept: they may be large, and it stays readable after its end. */
export interface RunningEntry {
  readonly command: string
  /** When it was started, by the time of day. */
  readonly sinceMs: number
}

interface Entry extends RunningEntry {
  readonly retention: Retention
  /** Undefined while it starts. */
  process: ExecProcess | undefined
  pusher: Pusher | undefined
  closedSeq: number | undefined
  forgetting: NodeJS.Timeout | undefined
}

export interface SessionOptions {
  readonly id: string
  readonly backend: ExecBackend
  readonly limits: ServerLimits
  readonly detachMs: number
  /** Whether the server runs one process more. */
  readonly hasRoom: () => boolean
  /** It has ended: nobody can come back to it. */
  readonly onEnd: () => void
  /** None of its processes is left. Told after `onEnd`. */
  readonly onGone: () => void
}

/**
 * The processes of one client. States: attached → detached → attached …, and ended, when nobody came back in time or the client's
 * wire says so. What it started ends with it, and counts as running until it is gone.
 */
export class Session {
  readonly id: string
  /** Of its requests that are under way, those in the room that is kept for it. */
  readonly underWay: BytesUnderWay = { bytes: 0 }
  readonly #options: SessionOptions
  readonly #entries = new Map<string, Entry>()
  #peer: FramePeer | undefined
  /** Ends the connection that is told now. */
  #taken: (() => void) | undefined
  #takesFrames = false
  #ending: NodeJS.Timeout | undefined
  #isEnded = false

  constructor(options: SessionOptions) {
    this.id = options.id
    this.#options = options
  }

  get isAttached(): boolean {
    return this.#peer !== undefined
  }

  /**
   * Tells this connection from now on. While another one is told it is refused, unless the client knows that one to be gone: a machine
   * that lost its network ends no connection, and until ours answers no ping its client would have given up.
   */
  attach(peer: FramePeer, { takesOver, taken }: { readonly takesOver: boolean; readonly taken: () => void }): void {
    if (this.#peer !== undefined && !takesOver)
      throw refusal('sessionAttached', `session ${this.id} is already attached to another connection`)
    clearTimeout(this.#ending)
    this.#stopTelling()
    // Its end is no end of the session: that has another by then.
    const endOther = this.#peer === undefined ? undefined : this.#taken
    this.#peer = peer
    this.#taken = taken
    endOther?.()
    this.#takesFrames = false
    // From what there is now; what came before can be read.
    for (const entry of this.#entries.values()) this.#push(entry, entry.process?.lastSeq ?? 0)
  }

  /** Its connection takes output as bytes, from now on. */
  takesFrames(): void {
    this.#takesFrames = this.#peer?.hasBytes === true
  }

  /** The connection is gone. Its processes wait for another. */
  detach(peer: FramePeer): void {
    if (this.#peer !== peer) return
    this.#peer = undefined
    this.#stopTelling()
    const { detachMs } = this.#options
    if (detachMs === 0) return void this.end({ force: true })
    this.#ending = setTimeout(() => void this.end({ force: false }), detachMs)
    this.#ending.unref()
  }

  #stopTelling(): void {
    for (const entry of this.#entries.values()) {
      entry.pusher?.close()
      entry.pusher = undefined
    }
  }

  async end(how: { readonly force: boolean }): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#ending)
    this.#options.onEnd()
    const terminating: Promise<void>[] = []
    for (const [id, entry] of this.#entries) {
      clearTimeout(entry.forgetting)
      entry.pusher?.close()
      if (entry.closedSeq !== undefined) this.#entries.delete(id)
      else if (entry.process !== undefined) terminating.push(this.#endProcess(id, entry.process, how))
    }
    this.#tellIfGone()
    await Promise.all(terminating)
  }

  async start(spec: ExecSpec): Promise<void> {
    const { backend, limits, hasRoom } = this.#options
    const { processId } = spec
    if (this.#isEnded) throw refusal('invalidRequest', `session ${this.id} has ended`)
    if (this.#entries.has(processId)) throw refusal('invalidRequest', `process ${processId} already exists`)
    if (this.running().length >= limits.processesPerSession)
      throw refusal('invalidRequest', `a session has ${limits.processesPerSession} processes at most`)
    if (!hasRoom()) throw refusal('invalidRequest', `${limits.processes} processes run here; no more are started`)
    this.#makeRoom(retentionOf(spec).retainBytes)
    const entry: Entry = {
      command: spec.argv[0],
      retention: retentionOf(spec),
      sinceMs: Date.now(),
      process: undefined,
      pusher: undefined,
      closedSeq: undefined,
      forgetting: undefined,
    }
    this.#entries.set(processId, entry)
    try {
      entry.process = await backend.start(spec)
    } catch (error) {
      this.#leave(processId)
      throw error
    }
    // Nobody would ever end it.
    if (this.#isEnded) return this.#endProcess(processId, entry.process, { force: true })
    void this.#forgetAfterEnd(processId, entry.process, entry)
    this.#push(entry, 0)
  }

  /** The process, `starting` while it starts, or undefined. */
  process(processId: string): ExecProcess | 'starting' | undefined {
    if (this.#isEnded) return undefined
    const entry = this.#entries.get(processId)
    return entry === undefined ? undefined : (entry.process ?? 'starting')
  }

  /** What starts or runs now. One that has ended and can still be read does not count. */
  running(): readonly RunningEntry[] {
    return [...this.#entries.values()]
      .filter(({ closedSeq }) => closedSeq === undefined || this.#isEnded)
      .map(({ command, sinceMs }) => ({ command, sinceMs }))
  }

  taken(processId: string, seq: number): void {
    const entry = this.#entries.get(processId)
    entry?.pusher?.taken(seq)
    if (entry?.closedSeq !== undefined && seq >= entry.closedSeq) this.#forget(processId, entry)
  }

  /** Settles when it was told to end. It is counted until it has: one that takes its time still runs. */
  async #endProcess(processId: string, process: ExecProcess, how: { readonly force: boolean }): Promise<void> {
    // Nobody reads it any more, and what holds its output for a reader would keep its streams from ending.
    process.subscribe(() => undefined)
    const terminated = Promise.allSettled([process.terminate(how)])
    void Promise.all([terminated, process.ended]).then(() => this.#leave(processId))
    await terminated
  }

  /** A process is gone with its session, or could not be started. */
  #leave(processId: string): void {
    this.#entries.delete(processId)
    this.#tellIfGone()
  }

  #tellIfGone(): void {
    if (this.#isEnded && this.#entries.size === 0) this.#options.onGone()
  }

  /**
   * Tells the connection after the answer that says so. Its place is held from now on: a process can write more than is kept of it
   * before that answer has gone.
   */
  #push(entry: Entry, afterSeq: number): void {
    const { process, retention } = entry
    if (this.#isEnded || this.#peer === undefined || process === undefined || entry.pusher !== undefined) return
    const pusher = new Pusher({
      peer: this.#peer,
      process,
      onFull: retention.onFull,
      aheadBytes: this.#options.limits.pushAheadBytes,
      asFrames: () => this.#takesFrames,
      afterSeq,
    })
    entry.pusher = pusher
    setImmediate(() => pusher.begin())
  }

  /** Those that have ended go before their time, the oldest first, where another one needs their room. */
  #makeRoom(bytes: number): void {
    const { sessionBytes, readablePerSession, processesPerSession } = this.#options.limits
    let kept = [...this.#entries.values()].reduce((sum, entry) => sum + entry.retention.retainBytes, 0)
    for (const [id, entry] of this.#entries) {
      if (kept + bytes <= sessionBytes && this.#entries.size < readablePerSession + processesPerSession) return
      if (entry.forgetting === undefined) continue
      clearTimeout(entry.forgetting)
      this.#remove(id, entry)
      kept -= entry.retention.retainBytes
    }
    if (kept + bytes > sessionBytes) throw refusal('invalidRequest', `retainBytes: a session keeps ${sessionBytes} bytes at most`)
    if (this.#entries.size >= readablePerSession + processesPerSession)
      throw refusal('invalidRequest', 'too many processes have ended whose output was not taken')
  }

  /** It stays readable for a while; where nothing may be lost, until all of it was taken. */
  async #forgetAfterEnd(processId: string, process: ExecProcess, entry: Entry): Promise<void> {
    await process.ended
    entry.closedSeq = process.lastSeq
    if (entry.retention.onFull === 'drop') this.#forget(processId, entry)
  }

  #forget(processId: string, entry: Entry): void {
    if (this.#isEnded || entry.forgetting !== undefined) return
    entry.forgetting = setTimeout(() => this.#remove(processId, entry), this.#options.limits.readableMs)
    entry.forgetting.unref()
  }

  #remove(processId: string, entry: Entry): void {
    entry.pusher?.close()
    this.#entries.delete(processId)
  }
}
