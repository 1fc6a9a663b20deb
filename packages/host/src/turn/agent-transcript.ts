import type { Transcript, TranscriptEntry, Transcripts } from '@parley/agent'
import { AGENT_LIMITS, Heard, ToolError, type TranscriptLine } from '@parley/protocol'
import type { AgentOfGateway } from '../gateway-calls.ts'
import { AgentLog, type LogLost } from '../agent-log.ts'
import type { MaskText } from '../mount/masked-secrets.ts'
import { mapTexts, shownLine } from './shown-line.ts'
import { isEntry, TranscriptFold } from './transcript-fold.ts'
import type { TurnLimits } from './turn-limits.ts'

export interface AgentTranscriptOptions extends AgentOfGateway {
  /** Where it ends: nobody else writes it while this claim holds. */
  readonly offset: number
  readonly limits: TurnLimits
  /** Takes secrets out of what is shown, and out of what an engine remembers: asked each time, since they change. */
  readonly maskShown: MaskText
  readonly maskMemory: MaskText
  /** Somebody else writes it: the agent is not ours any more. */
  readonly lost: (why: string) => void
}

/** In what an engine remembers only what is longer than its own words is taken out: a shorter one could be one of them. */
export const MEMORY_SECRET_CHARS = 12

/** An engine waits for one write at a time, and so does its turn. */
const AWAITED_MAX = 16

/**
 * The transcript of one agent: what its engine remembers, and between that the lines that everybody reads. Lines about what an engine
 * remembers wait until it has written that down, so that whoever goes on from a line knows what stands before it.
 */
export class AgentTranscript {
  readonly transcripts: Transcripts
  readonly #options: AgentTranscriptOptions
  readonly #log: AgentLog
  #held: string[] = []
  /** What was read last, until the engine has taken it or written more. */
  #read: TranscriptFold | undefined

  constructor(options: AgentTranscriptOptions) {
    this.#options = options
    const { call, claim, signal } = options
    this.#log = new AgentLog({
      offset: options.offset,
      append: (offset, lines, heard) =>
        call('host.append_transcript', { ...claim, offset, lines, ...(heard === undefined ? {} : { heard }) }, signal),
      what: 'the transcript',
      awaitedMax: AWAITED_MAX,
      linesMax: options.limits.heldLines,
      failed: (failure) => {
        if (!isFull(failure) && !signal.aborted) options.lost(failure.message)
      },
    })
    this.transcripts = { create: (id) => Promise.resolve(this.#transcript(id)), open: (id) => this.#open(id) }
  }

  /** Why nothing more can be written. */
  get failure(): LogLost | undefined {
    return this.#log.failure
  }

  /** Where it stands now; what was handed in is written first. */
  async standing(): Promise<TranscriptFold> {
    await this.flush()
    const { call, claim, signal, limits } = this.#options
    const fold = new TranscriptFold(limits.talkChars)
    for (let offset = 0; ;) {
      const page = await call('host.read_transcript', { ...claim, offset }, signal)
      for (const line of page.lines) fold.take(line)
      if (page.next_offset >= page.end || page.next_offset <= offset) break
      offset = page.next_offset
    }
    this.#read = fold
    return fold
  }

  /** A line right away, after those that wait. */
  say(line: TranscriptLine): void {
    this.#note([...this.#held.splice(0), this.#shown(line)])
  }

  /** A line that waits for what the engine writes down next. */
  hold(line: TranscriptLine): void {
    this.#held.push(this.#shown(line))
    if (this.#held.length > this.#options.limits.heldLines) this.#note(this.#held.splice(0))
  }

  /** Settles when all lines are written; throws `LogLost` when they never will be. */
  async flush(): Promise<void> {
    await this.#log.write(this.#held.splice(0))
    if (this.#log.failure !== undefined) throw this.#log.failure
  }

  #note(lines: readonly string[]): void {
    for (const line of lines) this.#log.later(line)
    this.#log.hurry()
  }

  #shown(line: TranscriptLine): string {
    return shownLine(line, this.#options.maskShown, this.#options.limits)
  }

  async #open(id: string): Promise<Transcript | undefined> {
    const read = this.#read?.conversation === id ? this.#read : await this.standing()
    return read.conversation === id ? this.#transcript(id) : undefined
  }

  #transcript(id: string): Transcript {
    return {
      read: async () => {
        const read = this.#read ?? (await this.standing())
        // It grows with the conversation, and nobody needs it twice.
        this.#read = undefined
        return read.conversation === id ? read.entries : []
      },
      append: (entries) => {
        this.#read = undefined
        const lines = entries.map((entry) => ({ line: this.#memory(id, entry), heard: heardIn(entry) }))
        return this.#log.write([...lines, ...this.#held.splice(0)])
      },
      close: () => Promise.resolve(),
    }
  }

  #memory(conversation: string, entry: TranscriptEntry): string {
    let isMasked = false
    const kept = mapTexts(entry, (text) => {
      const shown = this.#options.maskMemory(text)
      isMasked ||= shown !== text
      return shown
    })
    const whole = isEntry(kept) ? kept : entry
    const line = JSON.stringify({ type: 'memory', conversation, entry: isMasked ? { ...whole, masked: true } : whole })
    const bytes = Buffer.byteLength(line)
    if (bytes >= AGENT_LIMITS.transcriptLineBytes)
      throw new RangeError(`what the engine is to remember is too long for a line of its transcript: ${bytes} bytes`)
    return line
  }
}

/** Whether the log itself has no room any more. */
export const isFull = ({ cause }: LogLost): boolean => cause instanceof ToolError && cause.code === 'quota_exceeded'

/** What an engine says that its model is told with an input. */
const heardIn = (entry: TranscriptEntry): Heard | undefined =>
  entry.type === 'input' ? Heard.safeParse(entry['heard']).data : undefined
