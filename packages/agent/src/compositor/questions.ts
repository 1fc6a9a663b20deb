import { isJsonObject, type JsonObject, RPC_CODES, RpcError } from '@parley/protocol'
import {
  type Call,
  type Caller,
  canBeAsked,
  type InputRequest,
  type InputRequired,
  missingCapability,
  type Orphans,
} from '@parley/rpc'
import { AskableCall, endsTurn } from './askable-call.ts'
import type { AllowedCall, GatedCalls } from './gated-calls.ts'
import { type MountOptions, mayElicit, maySample, ownRoots } from './mount-options.ts'
import { isOfGate } from './policy-error.ts'
import type { MountWait } from './ports.ts'
import { namedElicitation, namedQuestion } from './question-text.ts'

type Ask<C extends Caller> = NonNullable<Orphans<C>['ask']>
type ServerQuestion = Parameters<Ask<never>>[0]
type AskingFlight<C extends Caller> = NonNullable<Parameters<Ask<C>>[1]>

/** What a modern server is told in place of an answer: it has no error for a single question. */
export const DECLINED: JsonObject = { action: 'decline' }

/** What goes on to the client of what a modern server asks, and which questions are declined without it. */
export interface PassedQuestions {
  readonly requests: Readonly<Record<string, InputRequest>>
  readonly declined: readonly string[]
}

/**
 * What servers ask the clients whose calls they serve: the person (elicitation) or the model (sampling). A mount's options say what it may ask
 * at all; then every question passes the gate like a call. Where one is denied its server is told, and where the turn is to end, the call ends.
 */
export class Questions<C extends Caller> {
  readonly #gated: GatedCalls<C>
  /** The calls under way whose clients can be asked. */
  readonly #calls = new WeakMap<Call<C>, AskableCall>()

  constructor(gated: GatedCalls<C>) {
    this.#gated = gated
  }

  /** A call that goes out now; `undefined`: its client cannot be asked anything. */
  began(call: Call<C>, until: Call['cancellation']): AskableCall | undefined {
    if (!canBeAsked(call.client.capabilities)) return undefined
    const askable = new AskableCall(until)
    this.#calls.set(call, askable)
    return askable
  }

  /**
   * Answers a question of a legacy server. All clients share the connection that it came on, so it goes to the caller whose call it
   * belongs to or to nobody: it may be about somebody else's secret.
   */
  async ask(options: MountOptions, ...[request, flight]: Parameters<Ask<C>>): Promise<JsonObject> {
    const { method } = request
    const roots = method === 'roots/list' ? ownRoots(options) : undefined
    if (roots !== undefined) return roots
    const question = questionOf(request)
    if (question === undefined)
      throw refusal(
        OF_CLIENTS.includes(method)
          ? `the program answers with our own message (${method}), so it is no MCP server`
          : `${method} is nothing that can be asked`,
      )
    const forbidden = forbiddenQuestion(options, question)
    if (forbidden !== undefined) throw refusal(forbidden)
    if (flight === undefined)
      throw refusal(`${method} cannot be answered: it belongs to no call, or calls of several clients are under way`)
    const missing = missingCapability(flight.call.client.capabilities, question)
    if (missing !== undefined) throw refusal(CANNOT_BE_ASKED, missing)
    if (flight.parked === undefined && flight.call.era === 'modern')
      throw refusal(`${method} cannot be answered in the middle of this call`)
    return this.#passOn(options.name, request, question, flight)
  }

  async #passOn(mount: string, request: ServerQuestion, question: InputRequest, flight: AskingFlight<C>): Promise<JsonObject> {
    const { call, parked } = flight
    const signal = AbortSignal.any([request.signal, parked?.signal ?? call.signal])
    const goesOn = (): void => call.goesOn()
    const wait = { signal, cancellation: signal, held: (words?: string) => (parked ?? call).held(words), goesOn }
    const allowed = await this.#allow({ mount, question, caller: call.caller, wait }).catch((error: unknown) => {
      if (error instanceof RpcError && isOfGate(error)) this.#calls.get(call)?.denied(error)
      throw error
    })
    const { method, params = {} } = namedQuestion(mount, question)
    allowed?.dispatched()
    try {
      const answer = await (parked === undefined
        ? call.ask(method, params, { signal: request.signal })
        : parked.ask({ ...request, params }))
      allowed?.returned({})
      return answer
    } catch (error) {
      allowed?.failed(error)
      throw error
    }
  }

  /**
   * What of a modern server's questions its caller is asked. A denied one to the person is declined, and the call goes on; there is no such answer
   * to one for the model, so the call is answered with the denial.
   */
  async pass(options: MountOptions, call: Call<C>, { requests, state }: InputRequired): Promise<PassedQuestions> {
    // Who cannot be asked is asked nothing of, so that nobody decides about it either.
    for (const question of Object.values(requests)) {
      const missing = missingCapability(call.client.capabilities, question)
      if (missing !== undefined) throw refusal(CANNOT_BE_ASKED, missing)
    }
    // A legacy server that wants a page visited has ended the call already: nothing of it can go on.
    const mayDecline = !isJsonObject(state) || state.visited !== true
    const declined = await this.#passAll(options, call, requests, ({ method }) => mayDecline && method === 'elicitation/create')
    const passed = Object.entries(requests).filter(([key]) => !declined.includes(key))
    return { requests: Object.fromEntries(passed.map(([key, one]) => [key, namedQuestion(options.name, one)])), declined }
  }

  /** A server's refusal until the person has visited some pages: each of them is a question. Any other error is passed on. */
  async passError(options: MountOptions, call: Call<C>, error: unknown): Promise<unknown> {
    const pages = pagesIn(error)
    if (!(error instanceof RpcError) || pages.length === 0) return error
    const questions = pages.map((page, at): [string, InputRequest] => [
      String(at),
      { method: 'elicitation/create', params: { mode: 'url', ...page } },
    ])
    try {
      await this.#passAll(options, call, Object.fromEntries(questions), () => false)
    } catch (denial) {
      return denial
    }
    const elicitations = pages.map((page) => namedElicitation(options.name, page))
    const more = isJsonObject(error.data) ? error.data : {}
    return new RpcError(error.code, error.message, { ...more, elicitations }, { cause: error })
  }

  /** Which of them are denied and may be declined. Throws where one is denied that may not: then none is passed on. */
  async #passAll(
    options: MountOptions,
    call: Call<C>,
    requests: InputRequired['requests'],
    mayDecline: (question: InputRequest) => boolean,
  ): Promise<readonly string[]> {
    const declined: string[] = []
    const allowed: AllowedCall[] = []
    try {
      for (const [key, question] of Object.entries(requests)) {
        const forbidden = forbiddenQuestion(options, question)
        if (forbidden !== undefined) throw new RpcError('internal_error', forbidden)
        const one = await this.#allow({ mount: options.name, question, caller: call.caller, wait: call }).catch(
          (error: unknown) => {
            if (!mayDecline(question) || !isPassedOver(error)) throw error
            declined.push(key)
            return undefined
          },
        )
        if (one !== undefined) allowed.push(one)
      }
    } catch (error) {
      for (const one of allowed) one.failed(error)
      throw error
    }
    for (const one of allowed) handedOver(one)
    return declined
  }

  /** Throws where it is denied. Roots are no question to anybody: the client's own settings answer them. */
  async #allow({ mount, question, caller, wait }: GatedQuestion<C>): Promise<AllowedCall | undefined> {
    const { method: name, params = {} } = question
    if (name === 'roots/list') return undefined
    return this.#gated.allow({ caller, kind: 'question', mount, name, arguments: params, annotations: undefined }, wait)
  }
}

interface GatedQuestion<C extends Caller> {
  readonly mount: string
  readonly question: InputRequest
  readonly caller: C
  readonly wait: MountWait
}

/** Whether the compositor answers that by itself, whoever calls. */
export const isOwnAnswer = (options: MountOptions, method: string): boolean =>
  method === 'roots/list' && ownRoots(options) !== undefined

/** Why a mount may not ask that. */
function forbiddenQuestion(options: MountOptions, { method }: InputRequest): string | undefined {
  if (method === 'elicitation/create' && !mayElicit(options)) return `${options.name} may not ask the person`
  if (method === 'sampling/createMessage' && !maySample(options)) return `${options.name} may not ask the client's model`
  return undefined
}

/** The pages that a person is to visit before a call can be made. */
function pagesIn(error: unknown): readonly JsonObject[] {
  if (!(error instanceof RpcError) || error.code !== RPC_CODES.url_elicitation_required || !isJsonObject(error.data)) return []
  return Array.isArray(error.data.elicitations) ? error.data.elicitations.filter(isJsonObject) : []
}

/** A denial after which a turn goes on. */
const isPassedOver = (error: unknown): boolean => error instanceof RpcError && isOfGate(error) && !endsTurn(error)

/** A modern client is asked by the answer to its call. What it says belongs to the call, which comes back with it or never. */
function handedOver(allowed: AllowedCall): void {
  allowed.dispatched()
  allowed.returned({})
}

function questionOf({ method, params }: ServerQuestion): InputRequest | undefined {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list'
    ? { method, params }
    : undefined
}

/** Only clients send these: a server that does merely repeats what it reads. */
const OF_CLIENTS: readonly string[] = ['initialize', 'server/discover']

const CANNOT_BE_ASKED = 'the client whose call this is did not declare that it can be asked this'

/** A server that passes it on tells the client which capability it needs. */
function refusal(why: string, requiredCapabilities?: JsonObject): RpcError {
  if (requiredCapabilities === undefined) return new RpcError('method_not_found', why)
  return new RpcError('missing_client_capability', why, { requiredCapabilities })
}
