import { type JsonObject, messageOf, RPC_CODES, RpcError } from '@parley/protocol'
import { type Caller, InputRequired, JsonText, type ServiceResult } from '@parley/rpc'
import { endOf } from './end-of-call.ts'
import { deniedError, evaluatorError } from './policy-error.ts'
import type { CallRecorder, CompositorOptions, MountCall, MountDecision, MountWait } from './ports.ts'

/** A call that the gate let through. */
export interface AllowedCall {
  /** What a person made of its arguments: these are sent. */
  readonly arguments?: JsonObject
  /** What the person who let it through says to whoever called. */
  readonly said?: string
  /** A person let it through: it ends at its mount when its caller wishes so, and not when that is merely cut off. */
  readonly isApproved: boolean
  /** It goes out now; each round of questions is a part of it. */
  dispatched(): void
  /** How it ended. A question is no end. */
  returned(result: ServiceResult): void
  failed(error: unknown): void
}

type FollowedCall = Pick<AllowedCall, 'dispatched' | 'returned' | 'failed'>

/** Asks the gate about every call and has it written down, before anything is sent and after it came back. */
export class GatedCalls<C extends Caller> {
  readonly #options: Pick<CompositorOptions<C>, 'gate' | 'recorder' | 'log' | 'now'>
  #last = 0

  constructor(options: Pick<CompositorOptions<C>, 'gate' | 'recorder' | 'log' | 'now'>) {
    this.#options = options
  }

  /** Throws where the call is denied, or cannot be written down. */
  async allow(call: MountCall<C>, wait: MountWait): Promise<AllowedCall> {
    const { recorder, now } = this.#options
    const id = ++this.#last
    const startedAt = now()
    const decided = this.#decide(call, wait)
    // Most gates answer at once: to wait for them costs more than to ask them.
    const { decision, denial } = decided instanceof Promise ? await decided : decided
    const followed = this.#followed(id, recorder)
    const isApproved = decision.kind === 'allow' && decision.approval !== undefined
    try {
      await recorder?.decided(id, call, decision, now() - startedAt)
    } catch (cause) {
      const error = new RpcError('internal_error', 'the call could not be recorded, so it was not made', undefined, { cause })
      if (denial === undefined) followed.failed(error)
      throw error
    }
    if (denial !== undefined) throw denial
    if (endOf(wait, isApproved).aborted) {
      // What a person let through counts as sent from then on: without an end it would be open for as long as the agent is held.
      followed.failed(new RpcError('internal_error', 'whoever called is gone, so the call was not made'))
      wait.signal.throwIfAborted()
    }
    const { arguments: edited, said } = decision.kind === 'allow' ? decision : {}
    return {
      ...followed,
      isApproved,
      ...(edited === undefined ? {} : { arguments: edited }),
      ...(said === undefined ? {} : { said }),
    }
  }

  /** What would be decided now, without asking anybody or writing it down. */
  async stands(call: MountCall<C>): Promise<Standing> {
    const { decision, denial } = await this.#decide({ ...call, unattended: true }, NOBODY_WAITS)
    return { denial, wouldAsk: decision.kind === 'deny' && decision.wouldAsk === true }
  }

  #decide(call: MountCall<C>, wait: MountWait): Decided | Promise<Decided> {
    const failed = (error: unknown): Decided => {
      this.#options.log('warn', `the gate failed for ${call.kind} ${call.name} of ${call.mount}: ${messageOf(error)}`)
      const denial = evaluatorError(call, error)
      return { decision: { kind: 'deny', reason: denial.message, endsTurn: false }, denial }
    }
    try {
      const decision = this.#options.gate.decide(call, wait)
      if (!(decision instanceof Promise)) return decidedOf(call, decision)
      return decision.then((given) => decidedOf(call, given)).catch(failed)
    } catch (error) {
      return failed(error)
    }
  }

  #followed(id: number, recorder: CallRecorder<C> | undefined): FollowedCall {
    if (recorder === undefined) return UNRECORDED
    const { now } = this.#options
    let sentAt: number | undefined
    const ms = (): number => (sentAt === undefined ? 0 : now() - sentAt)
    return {
      dispatched: () => {
        if (sentAt !== undefined) return
        sentAt = now()
        this.#tell(() => recorder.dispatched(id))
      },
      returned: (result) => {
        if (result instanceof InputRequired) return
        this.#tell(() => recorder.returned(id, { ms: ms(), isError: isErrorResult(result) }))
      },
      failed: (error) => {
        const code = error instanceof RpcError ? error.code : RPC_CODES.internal_error
        this.#tell(() => recorder.failed(id, { ms: ms(), code, message: messageOf(error) }))
      },
    }
  }

  /** What was sent is sent: a recorder that fails now changes nothing of what its caller hears. */
  #tell(record: () => void): void {
    try {
      record()
    } catch (error) {
      this.#options.log('warn', `what became of a call was not recorded: ${messageOf(error)}`)
    }
  }
}

const NEVER = new AbortController().signal
/** For what is done without anybody's request. */
export const NOBODY_WAITS: MountWait = { signal: NEVER, cancellation: NEVER, held: () => undefined }

/** What was decided, and what its caller hears where that is a denial. */
interface Decided {
  readonly decision: MountDecision
  readonly denial: RpcError | undefined
}

/** What would be decided. `wouldAsk`: it is denied only because nobody waits for what a person says. */
interface Standing extends Pick<Decided, 'denial'> {
  readonly wouldAsk: boolean
}

const decidedOf = <C extends Caller>(call: MountCall<C>, decision: MountDecision): Decided => ({
  decision,
  denial: decision.kind === 'deny' ? deniedError(call, decision) : undefined,
})

/** Of a call that nobody writes down. */
const UNRECORDED: FollowedCall = { dispatched: () => {}, returned: () => {}, failed: () => {} }

const IS_ERROR = /"isError":\s*true/

function isErrorResult(result: Exclude<ServiceResult, InputRequired>): boolean {
  return result instanceof JsonText ? IS_ERROR.test(result.text) : result.isError === true
}
