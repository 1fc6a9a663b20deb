import type { SteadyClient } from '@parley/client'
import { type AgentId, CHAT_LIMITS, type ChatMessage, unlessAborted } from '@parley/protocol'
import { type ChatFrom, readChat } from './read-chat.ts'
import { ReadMarker } from './read-marker.ts'

/** At the end the place of the reader is waited for so long. */
const MARK_MS = 5_000
const KEY_BYTES = 16

export interface ChatLinkOptions {
  readonly agent_id: AgentId
  readonly reader: string
  readonly random: (size: number) => Uint8Array
  /** Ends everything at once. */
  readonly signal: AbortSignal
  readonly heard: (message: ChatMessage) => void
  readonly warn: (words: string) => void
}

/** One reader of an agent's chat who also speaks: hears each message once and in order, and marks it as read. */
export class ChatLink {
  readonly #caller: SteadyClient
  readonly #options: ChatLinkOptions
  readonly #marker: ReadMarker
  readonly #left = new AbortController()
  #readTo = 0
  /** The newest that was said here, or was there at the beginning. */
  #wanted: number | undefined
  #moved = Promise.withResolvers<void>()
  /** What is said waits for what was said before. */
  #said: Promise<unknown> = Promise.resolve()

  constructor(caller: SteadyClient, options: ChatLinkOptions) {
    this.#caller = caller
    this.#options = options
    this.#marker = new ReadMarker(caller, options)
  }

  /** Where this reader was before. */
  place(): Promise<number> {
    return this.#marker.place()
  }

  /** Hears messages until `leave`, or the signal. */
  async read(from: ChatFrom): Promise<void> {
    const { agent_id, heard, warn } = this.#options
    const signal = AbortSignal.any([this.#options.signal, this.#left.signal])
    for await (const { messages, readTo, head } of readChat(this.#caller, agent_id, { from, signal, warn })) {
      for (const message of messages) heard(message)
      this.#readTo = readTo
      this.#wanted ??= head
      if (messages.length > 0) this.#marker.move(readTo)
      this.#moved.resolve()
      this.#moved = Promise.withResolvers()
    }
  }

  /** Says something after all that was said here before. It is there once, however often it has to be sent. */
  say(text: string, key = newKey(this.#options.random)): Promise<ChatMessage> {
    const { agent_id, signal } = this.#options
    const said = this.#said.then(async () => {
      const { message } = await this.#caller.call('chat.post', { agent_id, text, key }, { signal })
      this.#wanted = Math.max(this.#wanted ?? 0, message.id)
      return message
    })
    this.#said = said.catch(() => undefined)
    return said
  }

  /** Settles when all that was said here has been heard here too, and ends the reading. */
  async leave(): Promise<void> {
    const { signal } = this.#options
    await this.#said
    while (this.#wanted === undefined || this.#readTo < this.#wanted) await unlessAborted(this.#moved.promise, signal)
    const late = AbortSignal.any([signal, AbortSignal.timeout(MARK_MS)])
    await unlessAborted(this.#marker.settled(), late).catch(() => undefined)
    this.#left.abort()
  }
}

export const newKey = (random: (size: number) => Uint8Array): string => Buffer.from(random(KEY_BYTES)).toString('hex')

/** Why a text cannot be a message, if it cannot. */
export function whyNoMessage(text: string): string | undefined {
  if (text.trim() === '') return 'is empty'
  return text.length > CHAT_LIMITS.textChars ? `has more than ${CHAT_LIMITS.textChars} characters` : undefined
}
