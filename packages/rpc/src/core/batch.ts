import { type JsonValue, RPC_CODES } from '@parley/protocol/wire'
import { classify, type Message, type RequestId } from '../message/message.ts'
import { errorText } from '../message/text.ts'
import { hasBatches } from '../revision.ts'
import type { Caller } from '../service.ts'
import { personOf } from '../limit/callers.ts'
import { note } from '../limit/charge.ts'
import { claimsModern } from './envelope.ts'
import type { ServedWire } from './served-wire.ts'
import type { LegacyLink } from './legacy-link.ts'
import type { Outlet } from './outlet.ts'
import { bytesOf, SMALL_REQUEST_BYTES } from '../limit/request-size.ts'

interface Batch<C extends Caller> {
  readonly link: LegacyLink<C>
  readonly messages: readonly Message[]
  readonly answerBytes: number
}

/** Takes several messages in one, which only 2025-03-26 has, or says what is wrong with them. */
export function readBatch<C extends Caller>(
  { values, bytes }: { readonly values: readonly JsonValue[]; readonly bytes: number },
  link: LegacyLink<C> | undefined,
  { limits, turns }: Pick<ServedWire<C>, 'limits' | 'turns'>,
): Batch<C> | { readonly refusal: string } {
  if (link === undefined) return { refusal: 'a batch needs a session of revision 2025-03-26' }
  if (!hasBatches(link.revision)) return { refusal: `revision ${link.revision} has no batches: send one message at a time` }
  if (values.length === 0 || values.length > limits.batchMessages)
    return { refusal: `a batch has 1 to ${limits.batchMessages} messages` }
  const messages = values.map((value) => measured(classify(value, limits.nestingDepth, bytes)))
  if (messages.some(isForeign)) return { refusal: 'a batch holds neither initialize nor requests of the modern era' }
  // It came as one message and had one place in this turn.
  turns.spend(personOf(link.caller), messages.length - 1)
  return { link, messages, answerBytes: limits.answerBytes }
}

/**
 * Serves a batch and hands over one array with all answers, in the order in which they were ready; `undefined` when
 * every request in it was cancelled. An answer that would make it too large is left out, with a word to ask by itself: most
 * requests of a batch are small, and so are their answers. Answers false when nothing in it wants an answer: then `done` is never called.
 */
export function serveBatch<C extends Caller>(
  { link, messages, answerBytes }: Batch<C>,
  outlet: Outlet,
  done: (text: string | undefined) => void,
): boolean {
  if (messages.every(({ kind }) => kind === 'notification' || kind === 'response')) {
    for (const message of messages) tell(message, link)
    return false
  }
  const answers: string[] = []
  let bytes = 0
  // One more than the requests under way, so that the first answer does not end a batch that is still being read.
  let open = 1
  const answered = (id: RequestId, text: string | undefined): void => {
    if (text !== undefined) {
      const fits = bytes + text.length <= answerBytes
      answers.push(fits ? text : errorText(id, RPC_CODES.overloaded, tooMuch(answerBytes)))
      if (fits) bytes += text.length
    }
    ended()
  }
  const ended = (): void => {
    open -= 1
    if (open === 0) done(answers.length === 0 ? undefined : `[${answers.join(',')}]`)
  }
  for (const message of messages) {
    if (message.kind === 'invalid') {
      note(link.caller)
      answers.push(errorText(message.id, message.code, message.message))
    } else if (message.kind !== 'request') tell(message, link)
    else {
      open += 1
      link.request(message, outlet, ({ text }) => answered(message.id, text))
    }
  }
  ended()
  return true
}

const tooMuch = (limit: number): string => `the answers to a batch have at most ${limit} bytes: send this request by itself`

/** In a small batch no request is large. */
function measured(message: Message): Message {
  if (message.kind !== 'request' || message.bytes <= SMALL_REQUEST_BYTES) return message
  return { ...message, bytes: bytesOf(message.params) }
}

function tell<C extends Caller>(message: Message, link: LegacyLink<C>): void {
  note(link.caller)
  if (message.kind === 'notification') link.notification(message)
  else if (message.kind === 'response') link.response(message)
}

function isForeign(message: Message): boolean {
  return message.kind === 'request' && (message.method === 'initialize' || claimsModern(message.params))
}
