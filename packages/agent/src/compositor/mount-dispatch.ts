import { isJsonObject, type JsonObject, type JsonValue, RecentMap, RpcError } from '@parley/protocol'
import {
  type Call,
  type Caller,
  canBeAsked,
  forward,
  InputRequired,
  MAY_ASK,
  type ParkedCall,
  ParkedCalls,
  type ServiceResult,
  unlessVisited,
  WireError,
} from '@parley/rpc'
import type { AskableCall } from './askable-call.ts'
import type { CompositorLimits } from './compositor-limits.ts'
import { endOf } from './end-of-call.ts'
import type { AllowedCall, GatedCalls } from './gated-calls.ts'
import { ownRoots } from './mount-options.ts'
import { type MountTarget, unknownName } from './mount-table.ts'
import type { MountedServer } from './mounted-server.ts'
import { withoutForgery } from './policy-error.ts'
import { withApproval } from './shown/approved-result.ts'
import { ENGINE_CALL_META, type MountCall, type MountCallKind } from './ports.ts'
import { DECLINED, type Questions } from './questions.ts'
import { argumentsIn, completedArguments, sentParams } from './sent-params.ts'
import { annotationsOf } from './shown/shown-lists.ts'

/** A call of a client as the server of a mount will get it. */
export interface MountRequest<C extends Caller> {
  readonly kind: Exclude<MountCallKind, 'question'>
  readonly target: MountTarget<C>
  readonly method: string
  readonly params: JsonObject
  readonly call: Call<C>
  /** It goes on beside the turns of whoever makes it. */
  readonly isBackground?: true
}

/** How a call that goes out is asked something, and ended. */
interface Way {
  readonly parked: ParkedCall | undefined
  readonly askable: AskableCall | undefined
  readonly until: Call['cancellation']
}

/** Takes calls through the gate to their mounts, and what comes back to their callers. */
export class MountDispatch<C extends Caller> {
  readonly #gated: GatedCalls<C>
  readonly #questions: Questions<C>
  readonly #limits: CompositorLimits
  readonly #parked: ParkedCalls
  /** Calls whose clients were asked and may come back: how they end is still to be written down. */
  readonly #asked: RecentMap<number, AllowedCall>
  #lastAsked = 0

  constructor(gated: GatedCalls<C>, questions: Questions<C>, limits: CompositorLimits) {
    this.#gated = gated
    this.#questions = questions
    this.#limits = limits
    this.#parked = new ParkedCalls(limits.parkedCalls, limits.parkedMs)
    this.#asked = new RecentMap(limits.parkedCalls)
  }

  /** A call that comes back with answers was decided about when it came first: its state is sealed, and bound to the call. */
  async call(request: MountRequest<C>): Promise<ServiceResult> {
    const { target, method, call } = request
    const state = isJsonObject(call.state) ? call.state : undefined
    if (typeof state?.parked === 'string') return this.#parked.next(state.parked, call)
    if (state?.generation === undefined) return this.#send(request, await this.allow(request))
    if (state.generation !== target.mount.generation)
      throw new RpcError('invalid_params', 'requestState is about a mount that is gone; send the call again without it', {
        field: 'requestState',
      })
    // Once: who sends the same answers again makes another call, which is decided about like any other.
    const allowed = this.#takeUp(state.asked) ?? (await this.allow(request))
    const unvisited = state.visited === true ? unlessVisited(method, call) : undefined
    if (unvisited === undefined) return this.#send(request, allowed)
    allowed.returned(unvisited)
    return unvisited
  }

  async allow(request: MountRequest<C>): Promise<AllowedCall> {
    return this.#allow(request, { arguments: argumentsIn(request.params) })
  }

  async #allow(
    { kind, target: { mount, name, shown }, call, isBackground }: MountRequest<C>,
    asked: Pick<MountCall<C>, 'arguments' | 'completes'>,
  ): Promise<AllowedCall> {
    // A gate may go by what the server says of its tool, so the tools are listed before the first call. What is not there is put before nobody.
    if (kind !== 'resource' && (await mount.lists.lacks(kind === 'tool' ? 'tools' : 'prompts', name)))
      throw unknownName(kind, shown)
    const engineCall = call.meta[ENGINE_CALL_META]
    return this.#gated.allow(
      {
        caller: call.caller,
        kind,
        mount: mount.name,
        name,
        ...asked,
        annotations: kind === 'tool' ? annotationsOf(mount.lists.tool(name)) : undefined,
        ...(typeof engineCall === 'string' ? { engineCall } : {}),
        ...(isBackground === undefined ? {} : { background: isBackground }),
      },
      call,
    )
  }

  /** Completing an argument tells the server what is typed, and what comes back is the server's: it is decided about as what it completes. */
  async complete(request: MountRequest<C>): Promise<ServiceResult> {
    return this.#send(request, await this.#allow(request, { arguments: completedArguments(request.params), completes: true }))
  }

  async #send(request: MountRequest<C>, allowed: AllowedCall): Promise<ServiceResult> {
    const { target, method, call } = request
    const { mount } = target
    // The connection if it is open now: a call does not wait then.
    const { era } =
      mount.upstream.client ??
      (await mount.ready().catch((error: unknown) => {
        allowed.failed(error)
        throw error
      }))
    const isParked = era === 'legacy' && call.era === 'modern' && MAY_ASK.has(method) && canBeAsked(call.client.capabilities)
    if (!isParked) return this.#run(request, allowed, undefined)
    const { id } = this.#parked.start(call.caller.key, (parked) => this.#run(request, allowed, parked))
    return this.#parked.next(id, call)
  }

  async #run(request: MountRequest<C>, allowed: AllowedCall, parked: ParkedCall | undefined): Promise<ServiceResult> {
    const { target, call } = request
    const { mount, name } = target
    const given = parked?.signal ?? endOf(call, allowed.isApproved)
    // A modern server asks by its answers, after which nothing of the call is under way.
    const askable = mount.upstream.client?.era === 'modern' ? undefined : this.#questions.began(call, given)
    try {
      const over = mount.began()
      let leave: (() => void) | undefined
      try {
        leave = await mount.turn({ ...request, name }, given)
        allowed.dispatched()
        const sent = allowed.arguments
        const way = { parked, askable, until: askable?.until ?? given }
        const made = sent === undefined ? request : { ...request, params: { ...request.params, arguments: sent } }
        const result = withApproval(await this.#rounds(made, way), allowed)
        if (result instanceof InputRequired) return this.#hold(result, allowed)
        allowed.returned(result)
        return result
      } finally {
        leave?.()
        over()
      }
    } catch (error) {
      const told = askable?.end ?? error
      allowed.failed(told)
      throw told
    }
  }

  #hold({ requests, state }: InputRequired, allowed: AllowedCall): InputRequired {
    const asked = ++this.#lastAsked
    this.#asked.set(asked, allowed)
    return new InputRequired(requests, { ...(isJsonObject(state) ? state : {}), asked })
  }

  #takeUp(asked: JsonValue | undefined): AllowedCall | undefined {
    if (typeof asked !== 'number') return undefined
    const allowed = this.#asked.get(asked)
    this.#asked.delete(asked)
    return allowed
  }

  /** Forwards, and answers what a modern server asks of the compositor itself. */
  async #rounds(request: MountRequest<C>, way: Way): Promise<ServiceResult> {
    const { target, call } = request
    const { mount } = target
    const sent = { ...request, params: sentParams(request.method, request.params) }
    let round: Pick<Call, 'answers' | 'state'> = withOwn(mount, call)
    for (let count = 0; count < this.#limits.inputRounds; count++) {
      const result = await this.#forward(sent, way, round)
      if (!(result instanceof InputRequired)) return result
      const next = await this.#questionsFor(mount, call, result)
      if (next instanceof InputRequired) return next
      round = next
    }
    throw new RpcError('internal_error', `mount ${mount.name} asked the compositor ${this.#limits.inputRounds} times in one call`)
  }

  /** What comes back from the server; an error as its caller may hear it. */
  async #forward(
    { target: { mount, name }, method, params, call }: MountRequest<C>,
    { parked, askable, until }: Way,
    round: Pick<Call, 'answers' | 'state'>,
  ): Promise<ServiceResult> {
    try {
      return await forward(mount.forwarding, mount.upstream, { method, params, call, parked, until, round })
    } catch (error) {
      const honest = withoutForgery({ mount: mount.name, name }, error)
      // A server that passes on what it was told of a denied question does not misuse the code: its caller hears it from us.
      if (honest !== error && askable?.denial !== undefined) throw askable.denial
      throw await this.#questions.passError(mount.options, call, ofMount(mount, honest))
    }
  }

  /**
   * What the caller is asked. Roots are the compositor's own to tell, unless the mount is given those of its clients, and what is declined is
   * declined by it: where nothing else is asked, the answer is the next round.
   */
  async #questionsFor(
    mount: MountedServer<C>,
    call: Call<C>,
    { requests, state }: InputRequired,
  ): Promise<InputRequired | Pick<Call, 'answers' | 'state'>> {
    const hasOwn = ownRoots(mount.options) !== undefined
    const rootKeys = Object.keys(requests).filter((key) => hasOwn && requests[key]?.method === 'roots/list')
    const others = Object.entries(requests).filter(([key]) => !rootKeys.includes(key))
    const asked = new InputRequired(Object.fromEntries(others), state)
    const { requests: theirs, declined } = await this.#questions.pass(mount.options, call, asked)
    const kept: JsonObject = {
      ...(isJsonObject(state) ? state : {}),
      generation: mount.generation,
      rootKeys,
      declined: [...declined],
    }
    const isOwn = Object.keys(theirs).length === 0 && rootKeys.length + declined.length > 0
    return isOwn ? withOwn(mount, { answers: undefined, state: kept }) : new InputRequired(theirs, kept)
  }
}

/** The answers of a round with those that are the compositor's own. */
function withOwn<C extends Caller>(
  mount: MountedServer<C>,
  { answers, state }: Pick<Call, 'answers' | 'state'>,
): Pick<Call, 'answers' | 'state'> {
  const kept = isJsonObject(state) ? state : {}
  const roots = ownRoots(mount.options)
  const own: [string, JsonObject][] = [
    ...(roots === undefined ? [] : keysIn(kept.rootKeys).map((key): [string, JsonObject] => [key, roots])),
    ...keysIn(kept.declined).map((key): [string, JsonObject] => [key, DECLINED]),
  ]
  return own.length === 0 ? { answers, state } : { answers: { ...answers, ...Object.fromEntries(own) }, state }
}

const keysIn = (keys: JsonValue | undefined): readonly string[] =>
  Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []

/** What went wrong on the way to a mount names it; what its server said is passed on as it is. */
function ofMount<C extends Caller>({ name, forwarding, options }: MountedServer<C>, error: unknown): unknown {
  if (!(error instanceof RpcError) || !(error.cause instanceof WireError)) return error
  const isLate = error.cause.code === 'timeout' && forwarding.callMs === options.callTimeoutMs
  const words = isLate
    ? `the call took longer than ${forwarding.callMs} ms, the most that its option call_timeout_ms allows; it was cancelled, and may or may not have run`
    : error.message
  return new RpcError(error.code, `mount ${name}: ${words}`, error.data, { cause: error.cause })
}
