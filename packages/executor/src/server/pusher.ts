import type { FramePeer } from '@parley/rpc/frame'
import { outputFrame } from '../api/output-frame.ts'
import { notificationText } from '../api/wire-event.ts'
import type { ExecProcess, ProcessEvent, Subscription, WhenFull } from '../process/exec-process.ts'

export interface PusherOptions {
  readonly peer: FramePeer
  readonly process: ExecProcess
  readonly onFull: WhenFull
  readonly aheadBytes: number
  /** Whether output goes as bytes and not as text. */
  readonly asFrames: () => boolean
}

/**
 * Tells a connection what happens to a process, from `begin` on. A connection that does not take it is waited for, and the process
 * with it: its output is not read until there is room.
 */
export class Pusher {
  readonly #options: PusherOptions
  readonly #subscription: Subscription

  constructor(options: PusherOptions & { readonly afterSeq: number }) {
    this.#options = options
    this.#subscription = options.process.subscribe((event) => this.#push(event), {
      afterSeq: options.afterSeq,
      takes: options.onFull === 'hold' ? 'said' : 'handed',
      // As with the real one: what is not on its way to a client that is there is not given up.
      isWaitedFor: true,
      isPaused: true,
    })
  }

  /** What came since this was made is told first. */
  begin(): void {
    this.#subscription.resume()
  }

  taken(seq: number): void {
    this.#subscription.taken(seq)
  }

  close(): void {
    this.#subscription.close()
  }

  #push(event: ProcessEvent): void {
    if (!('seq' in event)) return
    const { peer, process, aheadBytes, asFrames } = this.#options
    const frame = asFrames() && event.kind === 'output' ? outputFrame(process.processId, event) : undefined
    if (frame === undefined) peer.sendText(notificationText(process.processId, event))
    else peer.sendBytes(frame)
    if (peer.bufferedBytes() <= aheadBytes) return
    this.#subscription.pause()
    // Before all of it has left, so that the connection never has to wait for us.
    void peer.drained(aheadBytes / 2).then(() => this.#subscription.resume())
  }
}
