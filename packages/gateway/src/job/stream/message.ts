import { JOB_LOGS, type JobId, type JobLogName, type NotificationMethod, isJsonObject, parseJson } from '@parley/protocol'
import { JsonText } from '@parley/rpc'
import type { LogEntry } from '@parley/store'
import { type Carry, cutLines } from './line.ts'

/** One notification about a log: its parameters as text, and the byte after what it tells. */
export interface StreamMessage {
  readonly params: JsonText
  readonly offset: number
}

/** Turns entries of one log into notifications, in order, for one reader. */
export interface MessageMaker {
  readonly method: NotificationMethod
  /** Where the log is to be read from, so that the reader gets what comes after its offset. */
  readonly from: number
  messages(entry: LogEntry): readonly StreamMessage[]
}

/** Bytes of the terminal in one notification. */
const TERMINAL_CHUNK_BYTES = 64 * 1024

interface LineMessages {
  readonly messages: readonly StreamMessage[]
  readonly carry: Carry
}

/**
 * Makes the notifications of all readers. Readers that keep up are handed the very same entries by the store, so what
 * was made for one of them is there for the next: an entry costs its parsing once and each reader a look-up.
 */
export class StreamMessages {
  readonly #chunks = new WeakMap<LogEntry, readonly StreamMessage[]>()
  readonly #lines = new WeakMap<LogEntry, LineMessages>()

  maker(id: JobId, log: JobLogName, offset: number): MessageMaker {
    const method = JOB_LOGS[log].notification
    if (log === 'terminal')
      return {
        method,
        from: offset,
        messages: (entry) => kept(this.#chunks, entry, () => terminalMessages(id, entry)),
      }
    // One byte back: unless that is the end of a line, we stand in the middle of one and go on after it.
    let carry: Carry = offset === 0 ? undefined : 'skip'
    return {
      method,
      from: Math.max(0, offset - 1),
      messages: (entry) => {
        // What was carried along is the same for everybody who saw the line begin, and for nobody else.
        const made: LineMessages =
          carry === 'skip' ? lineMessages(id, entry, carry) : kept(this.#lines, entry, () => lineMessages(id, entry, carry))
        carry = made.carry
        return made.messages
      },
    }
  }
}

function kept<Value>(cache: WeakMap<LogEntry, Value>, entry: LogEntry, make: () => Value): Value {
  const known = cache.get(entry)
  if (known !== undefined) return known
  const made = make()
  cache.set(entry, made)
  return made
}

function terminalMessages(id: JobId, { bytes, offset }: LogEntry): readonly StreamMessage[] {
  const messages: StreamMessage[] = []
  const start = offset - bytes.length
  for (let from = 0; from < bytes.length; from += TERMINAL_CHUNK_BYTES) {
    const chunk = bytes.subarray(from, from + TERMINAL_CHUNK_BYTES)
    const end = start + from + chunk.length
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('base64')
    messages.push({ params: new JsonText(`{"job_id":"${id}","offset":${end},"chunk_b64":"${text}"}`), offset: end })
  }
  return messages
}

/** A line that is no JSON object is left out; the next one's offset is past it, so that nobody stalls on it. */
function lineMessages(id: JobId, entry: LogEntry, before: Carry): LineMessages {
  const { lines, carry } = cutLines(entry.bytes, entry.offset, before)
  const messages: StreamMessage[] = []
  for (const { text, offset } of lines) {
    if (!isJsonObject(parseJson(text))) continue
    // The line is JSON already; parsing it was only to know.
    messages.push({ params: new JsonText(`{"job_id":"${id}","offset":${offset},"item":${text.trim()}}`), offset })
  }
  return { messages, carry }
}
