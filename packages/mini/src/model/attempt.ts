import { type JsonObject, NO_TOKENS, isJsonObject, parseForeign } from '@parley/protocol'
import { type HttpAnswer, HttpCallFailed, type HttpFetcher, readEventBatches, readText } from '@parley/fetch'
import { WireError } from '@parley/rpc'
import { secondsText } from '@parley/agent'
import type { ModelExchange, ModelItem, ModelListener } from './model.ts'
import { type AnswerReader, type ReadAnswer, malformed, tooLarge } from './answer-reader.ts'
import { bodyText } from './body-text.ts'
import type { ReadyEndpoint } from './endpoint.ts'
import { readErrorText } from './error-text.ts'
import { estimateTokens } from './estimate.ts'
import { type ModelFault, faultOf } from './fault.ts'
import type { ModelLimits } from './model-limits.ts'
import { readErrorBody, readErrorObject } from './provider-error.ts'
import { askedWaitMs } from './retry-after.ts'
import { RequestWatch } from './watch.ts'

export type AttemptOutcome =
  | { readonly kind: 'answered'; readonly items: readonly ModelItem[]; readonly refusal: string | null }
  | { readonly kind: 'failed'; readonly fault: ModelFault }
  | { readonly kind: 'aborted' }

export interface AttemptOptions {
  readonly http: HttpFetcher
  readonly endpoint: ReadyEndpoint
  readonly limits: ModelLimits
  readonly now: () => number
  readonly id: (prefix: string) => string
  readonly listener: ModelListener
  readonly signal: AbortSignal
  /** From 1. */
  readonly number: number
  readonly body: JsonObject
  /** What the body leaves out of the request. */
  readonly leftOut: readonly string[]
  readonly reader: AnswerReader
  /** Told what was wrong; its words go into the exchange: what will be different next time. */
  readonly learn: (fault: ModelFault) => string | undefined
}

export interface Attempted {
  readonly outcome: AttemptOutcome
  /** What the next try leaves out, if this one taught us something. */
  readonly learned: string | undefined
}

/** Sends one request and reads its answer. Tells its tokens once, and the exchange once, whatever happens. */
export async function attempt(options: AttemptOptions): Promise<Attempted> {
  const { endpoint, limits, now, listener, number } = options
  const startedAt = now()
  const sent = bodyText(options.body)
  const watch = new RequestWatch(options.signal, limits, now)
  let head: HttpAnswer | undefined
  let outcome: AttemptOutcome
  try {
    head = await options.http.call({
      method: 'POST',
      url: endpoint.url,
      headers: endpoint.headers,
      body: sent,
      headersMs: limits.firstTokenMs,
      idleMs: limits.idleMs,
      signal: watch.signal,
    })
    outcome = await readAnswer(head, options, watch)
  } catch (error) {
    outcome = outcomeOf(error, options, watch, head !== undefined)
  } finally {
    watch.end()
  }
  outcome = told(outcome, endpoint.redact, limits)
  const call = callIdOf(head, endpoint) ?? options.id('mc')
  const learned = outcome.kind === 'failed' ? options.learn(outcome.fault) : undefined
  if (head !== undefined && head.status >= 200 && head.status < 300) tellUsage(options, call, sent, outcome)
  const failure = outcome.kind === 'failed' ? outcome.fault.message : null
  listener.exchanged({
    call,
    attempt: number,
    status: head?.status ?? null,
    requestId: requestIdOf(head, endpoint),
    outcome: exchangeOutcome(outcome),
    error: learned === undefined ? failure : `${failure ?? ''}; asked again ${learned}`,
    leftOut: options.leftOut,
    durationMs: now() - startedAt,
    firstTokenMs: watch.firstTokenAt === undefined ? null : watch.firstTokenAt - startedAt,
  })
  return { outcome, learned }
}

async function readAnswer(head: HttpAnswer, options: AttemptOptions, watch: RequestWatch): Promise<AttemptOutcome> {
  const { limits, reader } = options
  const type = String(head.headers['content-type'] ?? '')
  if (head.status < 200 || head.status > 299) {
    const text = await readErrorText(head.body, limits.errorBytes)
    return { kind: 'failed', fault: faultOf(readErrorBody(head.status, text), askedWaitMs(head.headers, options.now()), limits) }
  }
  if (type.startsWith('text/html')) return webPage(head.status)
  if (/^application\/([\w.+-]+\+)?json/.test(type)) return await readWhole(head, options, watch)
  return (await readStream(head, options, watch)) ?? unfinished(reader, 'the answer ended before it was over')
}

async function readWhole(head: HttpAnswer, { limits, reader }: AttemptOptions, watch: RequestWatch): Promise<AttemptOutcome> {
  const body = parseForeign(await readText(head.body, limits.answerBytes))
  if (!isJsonObject(body)) return malformed('the answer is no JSON object')
  watch.begun()
  if (body['error'] !== undefined && body['error'] !== null && body['output'] === undefined)
    return { kind: 'failed', fault: faultOf(readErrorObject(body, null), undefined, limits) }
  reader.whole(body)
  return reader.result() ?? malformed('the answer has nothing in it')
}

/** Answers as soon as the model is done; what the provider sends after that is read in passing, so that the connection can be used again. */
async function readStream(
  head: HttpAnswer,
  { limits, reader }: AttemptOptions,
  watch: RequestWatch,
): Promise<ReadAnswer | undefined> {
  const batches = readEventBatches(head.body, limits.eventBytes)
  let bytes = 0
  for (;;) {
    const next = await batches.next()
    if (next.done === true) return reader.result()
    for (const { data } of next.value) {
      bytes += data.length
      const isOver = reader.event(data)
      if (reader.hasBegun) watch.begun()
      if (isOver) {
        watch.linger(batches)
        return reader.result()
      }
      if (bytes > limits.answerBytes) {
        watch.giveUp()
        return tooLarge(`${limits.answerBytes} bytes`)
      }
    }
  }
}

/** What could be read in spite of all counts, if it is all. */
function outcomeOf(error: unknown, { reader, limits }: AttemptOptions, watch: RequestWatch, hasHead: boolean): AttemptOutcome {
  if (watch.isAborted) return { kind: 'aborted' }
  if (error instanceof WireError)
    return { kind: 'failed', fault: { code: 'model_malformed', message: error.message, retry: false } }
  if (!(error instanceof HttpCallFailed)) throw error
  const reading = reader.result()
  if (reading !== undefined) return reading
  const message = watch.timedOut ?? WORDS[error.code](error.message, limits)
  return unfinished(reader, message, { cut: hasHead, isSilent: watch.timedOut !== undefined || error.code === 'silent' })
}

/** Words of the HTTP library that say no more than that it broke off. */
const ONLY_CLOSED = /^(other side closed|terminated|aborted|socket hang up|closed)$/i

const WORDS: Readonly<Record<HttpCallFailed['code'], (message: string, limits: ModelLimits) => string>> = {
  unreachable: (message) => `the provider cannot be reached: ${message}`,
  silent: (_, { idleMs }) => `the provider said nothing for ${secondsText(idleMs)}`,
  cut: (message) => (ONLY_CLOSED.test(message) ? 'the connection broke off' : `the connection broke off: ${message}`),
  aborted: () => 'the request was given up',
}

/** A web page answered, so the base URL is wrong: another try would get the same page. */
const webPage = (status: number): ReadAnswer => ({
  kind: 'failed',
  fault: {
    code: 'model_misconfigured',
    message: `a web page answered instead of a model (HTTP ${status}, text/html): the base URL is wrong`,
    retry: false,
  },
})

function unfinished(reader: AnswerReader, message: string, { cut = true, isSilent = false } = {}): AttemptOutcome {
  const isMalformed = reader.skipped > 0
  const words = isMalformed ? `${message}, and ${reader.skipped} of its events could not be read` : message
  const code = isMalformed ? 'model_malformed' : isSilent ? 'model_timeout' : 'model_unavailable'
  return { kind: 'failed', fault: { code, message: words, retry: true, cut } }
}

/** Words of providers may hold what they were sent. */
function told(outcome: AttemptOutcome, redact: (text: string) => string, limits: ModelLimits): AttemptOutcome {
  if (outcome.kind !== 'failed') return outcome
  const { message, brief } = outcome.fault
  // What is secret goes before anything is cut: half a key would not be recognised.
  const shown = (text: string, characters: number): string => {
    const masked = redact(text)
    return masked.length > characters ? `${masked.slice(0, characters)}…` : masked
  }
  const short = brief === undefined ? {} : { brief: shown(brief, limits.briefCharacters) }
  return { ...outcome, fault: { ...outcome.fault, message: shown(message, limits.messageCharacters), ...short } }
}

/** It failed before the model said anything: nothing was used up. Where it was we who hung up, the model was at work. */
const isUnused = (outcome: AttemptOutcome, reader: AnswerReader): boolean =>
  outcome.kind === 'failed' && outcome.fault.code !== 'model_timeout' && reader.saidBytes === 0

function tellUsage({ listener, reader }: AttemptOptions, call: string, sent: string, outcome: AttemptOutcome): void {
  if (reader.usage !== undefined) return listener.usage(call, reader.usage, false)
  listener.usage(call, isUnused(outcome, reader) ? NO_TOKENS : estimateTokens(sent, reader.saidBytes), true)
}

function exchangeOutcome(outcome: AttemptOutcome): ModelExchange['outcome'] {
  if (outcome.kind !== 'failed') return outcome.kind
  return outcome.fault.cut === true ? 'cut' : 'failed'
}

const CALL_ID = /^[\w.:-]{1,128}$/
const REQUEST_ID_CHARACTERS = 200

function callIdOf(head: HttpAnswer | undefined, { redact }: ReadyEndpoint): string | undefined {
  const id = head?.headers['x-parley-call']
  return typeof id === 'string' && CALL_ID.test(id) && redact(id) === id ? id : undefined
}

function requestIdOf(head: HttpAnswer | undefined, { redact }: ReadyEndpoint): string | null {
  const id = head?.headers['x-request-id']
  return typeof id === 'string' && id !== '' ? redact(id).slice(0, REQUEST_ID_CHARACTERS) : null
}
