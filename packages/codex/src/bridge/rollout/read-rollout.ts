import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { LineReader } from '@parley/rpc'
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'

/** Of a conversation's file no more is read than this; what stands behind it is not known. */
const READ_BYTES_MAX = 256 * 1024 * 1024
/** A longer line is passed over: it holds a picture, or what a command wrote. */
const LINE_BYTES_MAX = 32 * 1024 * 1024
/** Only lines with one of these are parsed. */
const MARKS = ['"turn_context"', '"role":"user"', '"role":"assistant"', '"turn_aborted"']

/** What Codex wrote down about a conversation, as far as the bridge has to know it. */
export interface RolloutRecords {
  /** What held for each request to the model, oldest first, in Codex's own words. */
  readonly contexts: readonly JsonObject[]
  /** What was said to the model as a person, each as its pieces of text, oldest first. */
  readonly said: readonly (readonly string[])[]
  /** What the model said. */
  readonly answers: ReadonlySet<string>
  readonly hasAborted: boolean
}

/** How long the file is; 0 where there is none yet. */
export async function rolloutSize(path: string): Promise<number> {
  return (await fileOf(path))?.size ?? 0
}

/** Reads a conversation's file from a place on. What is not there, is no file or cannot be read has no records. */
export async function readRollout(path: string, from = 0): Promise<RolloutRecords> {
  const contexts: JsonObject[] = []
  const said: (readonly string[])[] = []
  const answers = new Set<string>()
  let hasAborted = false
  const take = (line: string): void => {
    if (!MARKS.some((mark) => line.includes(mark))) return
    const record = parseJson(line)
    if (!isJsonObject(record) || !isJsonObject(record['payload'])) return
    const { type, payload } = { type: record['type'], payload: record['payload'] }
    if (type === 'turn_context') contexts.push(payload)
    if (type === 'event_msg' && payload['type'] === 'turn_aborted') hasAborted = true
    if (type !== 'response_item' || payload['type'] !== 'message') return
    const texts = textsOf(payload['content'])
    if (payload['role'] === 'user') said.push(texts)
    if (payload['role'] === 'assistant') answers.add(texts.join(''))
  }
  if ((await fileOf(path)) !== undefined) await eachLine(path, from, take)
  return { contexts, said, answers, hasAborted }
}

/** A pipe or a device would be read for ever. */
async function fileOf(path: string): Promise<{ readonly size: number } | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true ? found : undefined
}

async function eachLine(path: string, from: number, take: (line: string) => void): Promise<void> {
  const lines = new LineReader(LINE_BYTES_MAX, { line: take, fault: () => undefined })
  try {
    const stream: AsyncIterable<Buffer> = createReadStream(path, { start: from, end: from + READ_BYTES_MAX })
    for await (const chunk of stream) lines.push(chunk)
  } catch {
    // Whoever asked goes by what could be read.
  }
}

const textsOf = (content: JsonValue | undefined): readonly string[] =>
  (Array.isArray(content) ? content.filter(isJsonObject) : []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
