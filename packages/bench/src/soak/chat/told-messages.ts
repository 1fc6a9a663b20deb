import { isJsonObject, type JsonObject, type JsonValue } from '@parley/protocol'

/** A message of a person, as a notice told it. */
export interface ToldMessage {
  readonly id: number
  readonly text: string
}

/** What was written, one line of it, stands behind a bar. */
const TOLD = /a person wrote in your chat, as message (\d+), by .*:\n {2}\| (.*)$/gm

/** What the notices in a request to a model told it of its chat, in the order in which the conversation has them. */
export function messagesIn({ input }: JsonObject): readonly ToldMessage[] {
  return objectsIn(input)
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => (typeof content === 'string' ? [content] : objectsIn(content).map(({ text }) => text)))
    .flatMap((text) => (typeof text === 'string' ? [...text.matchAll(TOLD)] : []))
    .map(([, id, text = '']) => ({ id: Number(id), text }))
}

const objectsIn = (list: JsonValue | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : [])

/** What a model was told by its requests, each of which holds the whole conversation: the newest is the truth, and none takes back what one before it told. */
export class ToldMessages {
  #newest: readonly ToldMessage[] = []
  readonly problems: string[] = []

  get texts(): readonly string[] {
    return this.#newest.map(({ text }) => text)
  }

  /** The next request. */
  add(messages: readonly ToldMessage[]): void {
    const taken = this.#newest.find(({ id, text }, at) => messages[at]?.id !== id || messages[at].text !== text)
    if (taken !== undefined)
      this.problems.push(`the model was told ${taken.text} as ${taken.id}, and a later request has ${shown(messages)} instead`)
    const back = messages.find(({ id }, at) => id <= (messages[at - 1]?.id ?? 0))
    if (back !== undefined) this.problems.push(`one request tells ${back.text} as ${back.id} too late: ${shown(messages)}`)
    this.#newest = messages
  }
}

const SHOWN = 12
const shown = (messages: readonly ToldMessage[]): string =>
  `…${messages
    .slice(-SHOWN)
    .map(({ id }) => id)
    .join(' ')}`
