import type { FramePeer } from '@parley/rpc/frame'
import { notificationOf } from '../api/wire-event.ts'
import type { ExecProcess, ProcessEvent, Subscription, WhenFull } from '../process/exec-process.ts'

export interface PusherOptions {
  readonly peer: FramePeer
  readonly process: ExecProcess
  readonly onFull: WhenFull
  readonly aheadBytes: number
}

/**
 * Tells a connection what happens to a process, from now on. A connection that does not take it is waited for: then nothing is
 * told, and it goes on where it stood, or, where that is not there any more, with a number that shows the gap.
 */
export class Pusher {
  readonly #options: PusherOptions
  readonly #subscription: Subscription

  constructor(options: PusherOptions & { readonly afterSeq: number }) {
    this.#options = options
    this.#subscription = options.process.subscribe((event) => this.#push(event), {
      afterSeq: options.afterSeq,
      takes: options.onFull === 'hold' ? 'said' : 'handed',
    })
  }

  taken(seq: number): void {
    this.#subscription.taken(seq)
  }

  close(): void {
    this.#subscription.close()
  }

  #push(event: ProcessEvent): void {
    if (!('seq' in event)) return
    const { peer, process, aheadBytes } = this.#options
    const { method, params } = notificationOf(process.processId, event)
    peer.tell(method, params)
    if (peer.bufferedBytes() <= aheadBytes) return
    this.#subscription.pause()
    void peer.drained().then(() => this.#subscription.resume())
  }
}
