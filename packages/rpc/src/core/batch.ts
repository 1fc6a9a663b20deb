import type { JsonValue } from '@parley/protocol'
import type { Limits } from '../limits.ts'
import { classify, type Message } from '../message.ts'
import { errorText } from '../message-text.ts'
import { hasBatches } from '../revision.ts'
import type { Caller } from '../service.ts'
import { note } from './charge.ts'
import { claimsModern } from './envelope.ts'
import type { LegacyLink } from './legacy-link.ts'
import type { Outlet } from './outlet.ts'

interface Batch<C extends Caller> {
  readonly link: LegacyLink<C>
  readonly messages: readonly Message[]
}

/** Takes several messages in one, which only 2025-03-26 has, or says what is wrong with them. */
export function readBatch<C extends Caller>(
  values: readonly JsonValue[],
  link: LegacyLink<C> | undefined,
  limits: Limits,
): Batch<C> | { readonly refusal: string } {
  if (link === undefined) return { refusal: 'a batch needs a session of revision 2025-03-26' }
  if (!hasBatches(link.revision)) return { refusal: `revision ${link.revision} has no batches: send one message at a time` }
  if (values.length === 0 || values.length > limits.batchMessages)
    return { refusal: `a batch has 1 to ${limits.batchMessages} messages` }
  const messages = values.map((value) => classify(value, limits.nestingDepth))
  return messages.some(isForeign)
    ? { refusal: 'a batch holds neither initialize nor requests of the modern era' }
    : { link, messages }
}

/**
 * Serves a batch and hands over one array with all answers, in the order in which they were ready; `undefined` when
 * every request in it was cancelled. Answers false when nothing in it wants an answer: then `done` is never called.
 */
export function serveBatch<C extends Caller>(
  { link, messages }: Batch<C>,
  outlet: Outlet,
  done: (text: string | undefined) => void,
): boolean {
  if (messages.every(({ kind }) => kind === 'notification' || kind === 'response')) {
    for (const message of messages) tell(message, link)
    return false
  }
  const answers: string[] = []
  // One more than the requests under way, so that the first answer does not end a batch that is still being read.
  let open = 1
  const answered = (text: string | undefined): void => {
    if (text !== undefined) answers.push(text)
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
      link.request(message, outlet, ({ text }) => answered(text))
    }
  }
  answered(undefined)
  return true
}

function tell<C extends Caller>(message: Message, link: LegacyLink<C>): void {
  note(link.caller)
  if (message.kind === 'notification') link.notification(message)
  else if (message.kind === 'response') link.response(message)
}

function isForeign(message: Message): boolean {
  return message.kind === 'request' && (message.method === 'initialize' || claimsModern(message.params))
}
