import { Readable } from 'node:stream'
import { readTokens } from '@parley/protocol'
import { type HttpAnswer, HttpCallFailed, type HttpFetcher } from '@parley/fetch'
import { type HttpReply } from '@parley/rpc'
import type { Logger } from 'pino'
import type { ModelDirectory, ReachableModel } from '../channel/directory.ts'
import { type Asked, boundedAsked } from './asked/asked.ts'
import { BOUND_FIELD } from './asked/fields.ts'
import { channelRefusal, unansweredRefusal } from './channel-refusal.ts'
import { BodyCount, StreamCount } from './count.ts'
import { Mask } from '../secret/mask.ts'
import type { ModelCall } from './model-call.ts'
import { passAnswer } from './pass.ts'
import { playScript } from './script/play.ts'
import type { ModelRefusal } from './refusal.ts'
import { OUTPUT_TOKENS } from './reserve.ts'
import { answerFault, askUpstream, errorReply, passedHeaders, readRefused, typeOf } from './upstream.ts'

/** Nothing between us and the client may hold a stream back to make it larger. */
const STREAM_HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' } as const

export interface ReservedCall {
  readonly call: ModelCall
  readonly asked: Asked
  readonly reachable: ReachableModel
  readonly outputTokensMax: number | undefined
}

export interface AskParts {
  readonly http: HttpFetcher
  readonly directory: Pick<ModelDirectory, 'ask'>
  readonly log: Logger
  readonly now: () => number
}

/** Asks the model, or plays its script, and answers what goes to the client. Throws `ModelRefusal`. */
export async function askModel(parts: AskParts, { call, asked, reachable, outputTokensMax }: ReservedCall): Promise<HttpReply> {
  const { http, now } = parts
  const mask = new Mask(reachable.apiKey)
  const answer = await firstWord(http, { call, asked, reachable, outputTokensMax })
  const fault = answerFault(answer, reachable)
  if (fault !== undefined) {
    await call.drop()
    throw faulty(parts, { call, reachable }, fault)
  }
  if (answer.status >= 400) return refusedReply(parts, answer, { call, reachable }, mask)
  const script = scriptHeader(reachable)
  call.answered = 'ok'
  const count = typeOf(answer.headers) === 'text/event-stream' ? new StreamCount(asked.wire) : new BodyCount(asked.wire)
  call.counts(count)
  return {
    status: answer.status,
    headers: {
      'content-type': mask.text(answer.headers['content-type'] ?? 'application/json'),
      ...passedHeaders(answer.headers, mask),
      ...STREAM_HEADERS,
      ...script,
    },
    body: passAnswer(answer, call, { count, mask, outputTokensMax, now }),
    cut: call.signal,
  }
}

/** The head of the answer. */
async function firstWord(http: HttpFetcher, reserved: ReservedCall): Promise<HttpAnswer> {
  const { call, asked, reachable } = reserved
  const { script } = reachable
  try {
    if (script === null) return await askWithin(http, reserved)
    return playScript(script, asked, call.id.replace('call_', ''), call.signal)
  } catch (error) {
    if (!(error instanceof HttpCallFailed)) {
      await call.drop()
      throw error
    }
    call.answered = `upstream_${error.code}`
    throw unansweredRefusal(reachable, error)
  }
}

/**
 * Where little is left of a budget the provider hears how little, so that it does not write what nobody would get. One that
 * does not know the field, or wants another number, is asked again without it: the answer is cut here in any case.
 */
async function askWithin(http: HttpFetcher, { call, asked, reachable, outputTokensMax }: ReservedCall): Promise<HttpAnswer> {
  const isClose = outputTokensMax !== undefined && outputTokensMax <= OUTPUT_TOKENS && asked.outputTokens === undefined
  if (!isClose) return askUpstream(http, reachable, asked, call.signal)
  const answer = await askUpstream(http, reachable, boundedAsked(asked, outputTokensMax), call.signal)
  if (answer.status !== 400) return answer
  const text = await readRefused(answer)
  if (text.includes(BOUND_FIELD[asked.wire])) return askUpstream(http, reachable, asked, call.signal)
  return { ...answer, body: Readable.from([Buffer.from(text)]) }
}

/** A refusal costs nothing, unless the upstream says what it came to. */
async function refusedReply(
  parts: AskParts,
  answer: HttpAnswer,
  { call, reachable }: Pick<ReservedCall, 'call' | 'reachable'>,
  mask: Mask,
): Promise<HttpReply> {
  call.answered = 'upstream_error'
  const text = await readRefused(answer)
  const { reply, usage } = errorReply(answer, text, mask)
  const tokens = readTokens(usage, call.wire)
  if (tokens === undefined) await call.drop()
  else await call.book({ tokens, final: true, writtenTokens: 0 })
  const { status, headers } = answer
  const fault =
    reachable.script === null ? await channelRefusal(parts.directory, reachable, { status, headers, text, mask }) : undefined
  if (fault !== undefined) throw faulty(parts, { call, reachable }, fault)
  await call.end()
  return { ...reply, headers: { ...reply.headers, ...scriptHeader(reachable) } }
}

/** Something is wrong with the channel itself: whoever runs the gateway finds that in its log. */
function faulty(
  { log }: AskParts,
  { call, reachable }: Pick<ReservedCall, 'call' | 'reachable'>,
  fault: ModelRefusal,
): ModelRefusal {
  log.warn({ channel: reachable.channel.name, call: call.id, code: fault.code }, 'a channel cannot be used as it is')
  call.answered = fault.code
  call.discard()
  return fault
}

const scriptHeader = ({ script }: ReachableModel): Record<string, string> => (script === null ? {} : { 'x-parley-script': '1' })
