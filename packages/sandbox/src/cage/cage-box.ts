import { checkRequest } from '../check-request.ts'
import { BoxBusy } from '../box-busy.ts'
import { failedOutcome } from '../defaults.ts'
import type { Box, RunOutcome, RunRequest } from '../sandbox.ts'
import { FRAME, FrameWriter } from './frame.ts'
import type { Ground, CageProcess } from './cage-process.ts'
import { decodeOutcome, encodeOrder, type Streams, tellOutput, type TimedOutcome } from './order.ts'
import { withRealPaths } from '../real-paths.ts'

/** A box whose helper process waits for orders. */
export class CageBox implements Box {
  readonly #helper: CageProcess
  readonly #ground: Ground
  #busy = false

  constructor(helper: CageProcess, ground: Ground) {
    this.#helper = helper
    this.#ground = ground
  }

  async run(request: RunRequest, signal?: AbortSignal): Promise<RunOutcome> {
    return (await this.runTimed(request, 'own', signal)).outcome
  }

  /** As `run`, with the moment of its end. */
  async runTimed(request: RunRequest, streams: Streams, signal?: AbortSignal): Promise<TimedOutcome> {
    if (this.#busy) throw new BoxBusy()
    checkRequest(request)
    this.#busy = true
    const kill = (): void => this.#helper.tell(new FrameWriter().finish(FRAME.kill))
    try {
      const answer = this.#helper.ask(encodeOrder(withRealPaths(request, this.#ground.folder), streams), (frame) =>
        tellOutput(frame, request),
      )
      if (signal?.aborted === true) kill()
      else signal?.addEventListener('abort', kill, { once: true })
      const frame = await answer
      if (frame?.type === FRAME.done) return decodeOutcome(frame, request)
      return { outcome: failedOutcome(`the sandbox helper is gone: ${this.#helper.complaint}`), endedAtNs: 0 }
    } finally {
      signal?.removeEventListener('abort', kill)
      this.#busy = false
    }
  }

  /** One step of joining this box to another; false when it could not be taken. */
  async join(step: number, input: string, output: string): Promise<boolean> {
    if (this.#busy) throw new BoxBusy()
    const frame = await this.#helper.ask(new FrameWriter().u32(step).string(input).string(output).finish(FRAME.join))
    return frame?.type === FRAME.joined
  }

  close(): Promise<void> {
    return this.#helper.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
