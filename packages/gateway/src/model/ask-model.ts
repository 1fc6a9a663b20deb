import { readTokens } from '@parley/protocol'
import { type HttpAnswer, HttpCallFailed, type HttpCaller, type HttpReply } from '@parley/rpc'
import type { Logger } from 'pino'
import type { ReachableModel } from '../channel/directory.ts'
import type { Asked } from './asked.ts'
import { BodyCount, StreamCount } from './count.ts'
import { Mask } from './mask.ts'
import type { ModelCall } from './model-call.ts'
import { passAnswer } from './pass.ts'
import { playScript } from './script-play.ts'
import { answerFault, askUpstream, errorReply, passedHeaders, typeOf, unansweredRefusal } from './upstream.ts'

/** Nothing between us and the client may hold a stream back to make it larger. */
const STREAM_HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' } as const

export interface ReservedCall {
  readonly call: ModelCall
  readonly asked: Asked
  readonly reachable: ReachableModel
  readonly outputTokensMax: number | undefined
}

/** Asks the model, or plays its script, and answers what goes to the client. Throws `ModelRefusal`. */
export async function askModel(
  { http, log, now }: { readonly http: HttpCaller; readonly log: Logger; readonly now: () => number },
  { call, asked, reachable, outputTokensMax }: ReservedCall,
): Promise<HttpReply> {
  const mask = new Mask(reachable.apiKey)
  const answer = await firstWord(http, { call, asked, reachable, outputTokensMax })
  const fault = answerFault(answer)
  if (fault !== undefined) {
    if (answer.status === 401)
      log.warn({ channel: reachable.channel.name, call: call.id }, 'an upstream refuses the key of its channel')
    call.answered = fault.code
    await call.drop()
    call.discard()
    throw fault
  }
  const script: Record<string, string> = reachable.script === null ? {} : { 'x-parley-script': '1' }
  if (answer.status >= 400) return refusedReply(answer, call, mask, script)
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

/** The head of the answer. Nothing was sent: nothing is booked. Else the request itself may have to be paid. */
async function firstWord(http: HttpCaller, { call, asked, reachable }: ReservedCall): Promise<HttpAnswer> {
  const { script } = reachable
  try {
    if (script === null) return await askUpstream(http, reachable, asked, call.signal)
    return playScript(script, asked, call.id.replace('call_', ''), call.signal)
  } catch (error) {
    if (!(error instanceof HttpCallFailed)) {
      await call.drop()
      throw error
    }
    call.answered = `upstream_${error.code}`
    if (error.code === 'unreachable') await call.drop()
    throw unansweredRefusal(error)
  }
}

async function refusedReply(answer: HttpAnswer, call: ModelCall, mask: Mask, script: Record<string, string>): Promise<HttpReply> {
  call.answered = 'upstream_error'
  const { reply, usage } = await errorReply(answer, mask)
  const tokens = readTokens(usage, call.wire)
  if (tokens === undefined) await call.drop()
  else await call.book({ tokens, final: true, writtenTokens: 0 })
  await call.end()
  return { ...reply, headers: { ...reply.headers, ...script } }
}
