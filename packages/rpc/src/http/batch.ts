import type { JsonValue } from '@parley/protocol'
import { claimsModern } from '../core/envelope.ts'
import type { Limits } from '../limits.ts'
import { classify, type Message } from '../message.ts'
import { errorText } from '../message-text.ts'
import { hasBatches } from '../revision.ts'
import type { Caller } from '../service.ts'
import type { HttpSession } from './session.ts'
import type { PostReply } from './post-reply.ts'

interface BatchStart<C extends Caller> {
  readonly values: readonly JsonValue[]
  readonly session: HttpSession<C> | undefined
  readonly limits: Limits
  readonly reply: () => PostReply<C>
  readonly mayBeSlow: (reply: PostReply<C>) => void
  readonly refuse: (message: string) => void
}

/** Several messages in one body: only 2025-03-26 has that. Each gets its own answer; they come in the order in which they are ready. */
export function serveBatch<C extends Caller>(start: BatchStart<C>): void {
  const { values, session, limits, refuse } = start
  if (session === undefined) return refuse('a batch needs a session of revision 2025-03-26')
  if (!hasBatches(session.link.revision))
    return refuse(`revision ${session.link.revision} has no batches: send one message at a time`)
  if (values.length === 0 || values.length > limits.batchMessages)
    return refuse(`a batch has 1 to ${limits.batchMessages} messages`)
  const messages = values.map((value) => classify(value, limits.nestingDepth))
  if (messages.some((message) => isForeign(message)))
    return refuse('a batch holds neither initialize nor requests of the modern era')

  const reply = start.reply()
  const answers: string[] = []
  // One more than the requests under way, so that the first answer does not end a batch that is still being read.
  let open = 1
  const answered = (text: string | undefined): void => {
    if (text !== undefined) answers.push(text)
    open -= 1
    if (open === 0) reply.finish(answers.length === 0 ? undefined : `[${answers.join(',')}]`, 200)
  }
  let asks = false
  for (const message of messages) {
    if (message.kind === 'notification') session.link.notification(message)
    else if (message.kind === 'response') session.link.response(message)
    else if (message.kind === 'invalid') answers.push(errorText(message.id, message.code, message.message))
    else {
      asks = true
      open += 1
      session.link.request(message, reply, ({ text }) => answered(text))
    }
  }
  if (!asks && answers.length === 0) return reply.accept()
  answered(undefined)
  start.mayBeSlow(reply)
}

function isForeign(message: Message): boolean {
  if (message.kind !== 'request') return false
  return message.method === 'initialize' || claimsModern(message.params)
}
