import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import type { EventMessage } from '@parley/codex/port'

/** What is told of a conversation that goes on; of a longer one its newest part. */
const MESSAGES_MAX = 10_000

/** What a file holds of a conversation, for whoever goes on with it. */
export interface Recorded {
  readonly messages: readonly EventMessage[]
  readonly model: string | undefined
  readonly instructions: string | undefined
  /** As the engine noted them when the conversation was opened or last resumed, single turns aside. */
  readonly options: JsonObject
}

/** The mark on a line that holds for one turn alone. */
export const FOR_TURN = 'for_turn'

/** Reads a conversation from its file. Lines that are cut or unknown say nothing. */
export async function readRecorded(path: string): Promise<Recorded> {
  const messages: EventMessage[] = []
  let model: string | undefined
  let instructions: string | undefined
  let options: JsonObject = {}
  const input = createReadStream(path, 'utf8')
  // A file that cannot be read ends the lines; the error is told by the stream alone.
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => undefined)
  const read = async (): Promise<void> => {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const entry = parseJson(line)
      if (!isJsonObject(entry)) continue
      const { type } = entry
      if ((type === 'opened' || type === 'resumed') && entry[FOR_TURN] !== true) {
        model = textIn(entry['model']) ?? model
        instructions = textIn(entry['instructions']) ?? instructions
        options = isJsonObject(entry['options']) ? entry['options'] : options
      }
      const message = messageOf(entry)
      if (message !== undefined) messages.push(message)
      if (messages.length > MESSAGES_MAX * 2) messages.splice(0, messages.length - MESSAGES_MAX)
    }
  }
  await Promise.race([read(), failed])
  return { messages: messages.slice(-MESSAGES_MAX), model, instructions, options }
}

/** The first thing that a person said in these lines. */
export function firstSaid(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    if (!line.includes('"input"')) continue
    const entry = parseJson(line)
    const message = isJsonObject(entry) ? messageOf(entry) : undefined
    if (message?.type === 'user_message') return textIn(message['message'])
  }
  return undefined
}

function messageOf({ type, item }: JsonObject): EventMessage | undefined {
  if (!isJsonObject(item)) return undefined
  if (type === 'input') return { type: 'user_message', message: textsOf(item['content']).join('\n'), kind: 'plain' }
  if (type !== 'item') return undefined
  if (item['type'] === 'message') return { type: 'agent_message', message: textsOf(item['content']).join('') }
  const text = item['type'] === 'reasoning' ? textsOf(item['summary']).join('\n\n') : ''
  return text === '' ? undefined : { type: 'agent_reasoning', text }
}

function textsOf(content: JsonValue | undefined): string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((part) => (isJsonObject(part) ? (textIn(part['text'] ?? part['refusal']) ?? []) : []))
}

const textIn = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)
