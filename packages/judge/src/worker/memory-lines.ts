import * as z from 'zod'
import type { TranscriptEntry } from '@parley/agent'
import { JobError, Report, Solution, isJsonObject, parseJson } from '@parley/protocol'

const Attempt = z.int().min(1)
const Entry = z.custom<TranscriptEntry>((value) => isJsonObject(value) && typeof value['type'] === 'string')

/** One line of a job's transcript log. */
const Line = z.discriminatedUnion('type', [
  /** A judge begins here: a line before it that cannot be read is one that its predecessor did not finish. */
  z.object({ type: z.literal('claim'), claim: z.int(), claim_id: z.string() }),
  /** All before it is void. */
  z.object({ type: z.literal('anew') }),
  /** There was no room for more. */
  z.object({ type: z.literal('full') }),
  z.object({ type: z.literal('conversation'), id: z.string() }),
  z.object({ type: z.literal('entry'), conversation: z.string(), entry: Entry }),
  z.object({ type: z.literal('turn'), attempt: Attempt, turn: Attempt, message: z.string() }),
  z.object({ type: z.literal('self_test'), code_sha256: z.string(), ok: z.boolean() }),
  z.object({
    type: z.literal('answer'),
    attempt: Attempt,
    code: z.string(),
    solution: Solution.nullable(),
    notes: z.array(z.string()),
  }),
  z.object({ type: z.literal('report'), attempt: Attempt, report: Report }),
  /** The attempt gave no program, and another was made. */
  z.object({ type: z.literal('failed'), attempt: Attempt, error: JobError }),
])
export type MemoryLine = z.infer<typeof Line>

const KNOWN: ReadonlySet<string> = new Set(Line.options.map((option) => option.shape.type.value))

/** All that the lines of a log come to. */
export class MemoryRead {
  #conversation: string | undefined
  warning: string | undefined
  isFull = false
  /** Where the conversation stands is not in the log any more. */
  isLost = false
  isUnreadable = false
  readonly entries = new Map<string, TranscriptEntry[]>()
  readonly turns = new Map<string, string>()
  readonly selfTests = new Map<string, boolean>()
  readonly answers = new Map<number, Extract<MemoryLine, { type: 'answer' }>>()
  readonly reports = new Map<number, Report>()
  readonly failures = new Map<number, JobError>()

  /** Of one that was given a name and nothing more, no engine knows anything. */
  get conversation(): string | undefined {
    const entries = this.entries.get(this.#conversation ?? '') ?? []
    return this.isLost || entries.length === 0 ? undefined : this.#conversation
  }

  take(line: MemoryLine): void {
    switch (line.type) {
      case 'claim':
        return
      case 'anew':
        return this.#clear()
      case 'full':
        this.isFull = true
        return
      case 'conversation':
        this.isLost = false
        this.#conversation = line.id
        this.entries.set(line.id, [])
        return
      case 'entry':
        this.entries.get(line.conversation)?.push(line.entry)
        return
      case 'turn':
        this.turns.set(`${line.attempt}.${line.turn}`, line.message)
        return
      case 'self_test':
        this.selfTests.set(line.code_sha256, line.ok)
        return
      case 'answer':
        this.answers.set(line.attempt, line)
        return
      case 'report':
        this.reports.set(line.attempt, line.report)
        return
      case 'failed':
        this.failures.set(line.attempt, line.error)
    }
  }

  #clear(): void {
    this.#conversation = undefined
    for (const map of [this.entries, this.turns, this.selfTests, this.answers, this.reports, this.failures]) map.clear()
  }
}

/** Reads a log from its start. What cannot be understood makes all of it void, save a line that was cut by a judge's death. */
export function readMemory(bytes: Buffer): MemoryRead {
  let read = new MemoryRead()
  const texts = bytes.toString('utf8').split('\n')
  const last = texts.pop() ?? ''
  const lines = [...texts, ...(last === '' ? [] : [last])].map((text, index) => ({ line: lineOf(text), index }))
  // What an earlier reader gave up is not looked at again.
  const anew = lines.findLastIndex(({ line }) => typeof line === 'object' && line.type === 'anew')
  for (const { line, index } of lines.slice(anew + 1)) {
    if (line === 'other') continue
    if (line !== undefined) read.take(line)
    else {
      const next = lines[index + 1]
      const isTorn = next === undefined || (typeof next.line === 'object' && next.line.type === 'claim')
      if (isTorn) continue
      read = new MemoryRead()
      read.isUnreadable = true
      read.warning = `what the judge before left cannot be read from line ${index + 1} on: the work starts anew`
      return read
    }
  }
  if (read.isFull) {
    // Of a conversation that goes on after its last line nobody knows where it stands.
    read.isLost = true
    read.warning = 'the transcript of this job is full: another conversation is begun, and it is not kept'
  }
  return read
}

/** `undefined`: not a line of ours. `other`: one that a newer judge wrote, which is skipped. */
function lineOf(text: string): MemoryLine | 'other' | undefined {
  const value = parseJson(text)
  if (!isJsonObject(value) || typeof value['type'] !== 'string') return undefined
  return KNOWN.has(value['type']) ? Line.safeParse(value).data : 'other'
}
