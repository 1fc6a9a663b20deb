import type { FramePeer } from '@parley/rpc/frame'
import { refusal } from '../api/error-code.ts'
import { type ExecBackend, type ExecSpec, retentionOf } from '../backend/exec-spec.ts'
import type { ExecProcess } from '../process/exec-process.ts'
import { Pusher } from './pusher.ts'
import type { ServerLimits } from './server-limits.ts'

interface Entry {
  readonly spec: ExecSpec
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
  /** It has ended: nobody can come back to it. */
  readonly onEnd: () => void
}

/**
 * The processes of one client. States: attached → detached → attached …, and ended, when nobody came back in time or the client's
 * wire says so. What it started ends with it.
 */
export class Session {
  readonly id: string
  readonly #options: SessionOptions
  readonly #entries = new Map<string, Entry>()
  #peer: FramePeer | undefined
  #ending: NodeJS.Timeout | undefined
  #isEnded = false

  constructor(options: SessionOptions) {
    this.id = options.id
    this.#options = options
  }

  get isAttached(): boolean {
    return this.#peer !== undefined
  }

  /** Tells this connection from now on. Refused while another one is told. */
  attach(peer: FramePeer): void {
    if (this.#peer !== undefined) throw refusal('sessionAttached', `session ${this.id} is already attached to another connection`)
    clearTimeout(this.#ending)
    this.#peer = peer
    // From what there is now; what came before can be read. They are told after the answer that says so.
    const places = [...this.#entries.values()].map((entry) => ({ entry, afterSeq: entry.process?.lastSeq ?? 0 }))
    setImmediate(() => {
      if (this.#peer === peer) for (const { entry, afterSeq } of places) this.#push(entry, afterSeq)
    })
  }

  /** The connection is gone. Its processes wait for another. */
  detach(peer: FramePeer): void {
    if (this.#peer !== peer) return
    this.#peer = undefined
    for (const entry of this.#entries.values()) {
      entry.pusher?.close()
      entry.pusher = undefined
    }
    const { detachMs } = this.#options
    if (detachMs === 0) return void this.end({ force: true })
    this.#ending = setTimeout(() => void this.end({ force: false }), detachMs)
    this.#ending.unref()
  }

  async end(how: { readonly force: boolean }): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#ending)
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    this.#options.onEnd()
    for (const { forgetting, pusher } of entries) {
      clearTimeout(forgetting)
      pusher?.close()
    }
    await Promise.allSettled(entries.map(async ({ process }) => process?.terminate(how)))
  }

  async start(spec: ExecSpec): Promise<void> {
    const { backend, limits } = this.#options
    const { processId } = spec
    if (this.#entries.has(processId)) throw refusal('invalidRequest', `process ${processId} already exists`)
    if (this.#entries.size >= limits.processesPerSession)
      throw refusal('invalidRequest', `a session has ${limits.processesPerSession} processes at most`)
    const kept = [...this.#entries.values()].reduce((sum, entry) => sum + retentionOf(entry.spec).retainBytes, 0)
    if (kept + retentionOf(spec).retainBytes > limits.sessionBytes)
      throw refusal('invalidRequest', `retainBytes: a session keeps ${limits.sessionBytes} bytes at most`)
    const entry: Entry = { spec, process: undefined, pusher: undefined, closedSeq: undefined, forgetting: undefined }
    this.#entries.set(processId, entry)
    try {
      entry.process = await backend.start(spec)
    } catch (error) {
      this.#entries.delete(processId)
      throw error
    }
    // Nobody would ever end it.
    if (this.#isEnded) return void (await entry.process.terminate({ force: true }))
    void this.#forgetAfterEnd(processId, entry.process, entry)
    setImmediate(() => this.#push(entry, 0))
  }

  /** The process, `starting` while it starts, or undefined. */
  process(processId: string): ExecProcess | 'starting' | undefined {
    const entry = this.#entries.get(processId)
    return entry === undefined ? undefined : (entry.process ?? 'starting')
  }

  taken(processId: string, seq: number): void {
    const entry = this.#entries.get(processId)
    entry?.pusher?.taken(seq)
    if (entry?.closedSeq !== undefined && seq >= entry.closedSeq) this.#forget(processId, entry)
  }

  #push(entry: Entry, afterSeq: number): void {
    const { process, spec } = entry
    if (this.#peer === undefined || process === undefined || entry.pusher !== undefined) return
    entry.pusher = new Pusher({
      peer: this.#peer,
      process,
      onFull: retentionOf(spec).onFull,
      aheadBytes: this.#options.limits.pushAheadBytes,
      afterSeq,
    })
  }

  /** It stays readable for a while; where nothing may be lost, until all of it was taken. */
  async #forgetAfterEnd(processId: string, process: ExecProcess, entry: Entry): Promise<void> {
    await process.ended
    entry.closedSeq = process.lastSeq
    if (retentionOf(entry.spec).onFull === 'drop') this.#forget(processId, entry)
  }

  #forget(processId: string, entry: Entry): void {
    if (this.#isEnded || entry.forgetting !== undefined) return
    entry.forgetting = setTimeout(() => {
      entry.pusher?.close()
      this.#entries.delete(processId)
    }, this.#options.limits.readableMs)
    entry.forgetting.unref()
  }
}
