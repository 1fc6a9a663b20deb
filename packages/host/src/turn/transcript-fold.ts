import { leftEnd, type TranscriptEntry } from '@parley/agent'
import { isJsonObject, type JsonValue, parseJson, type PromptOutcome, TranscriptLine } from '@parley/protocol'
import { outcomeOf } from './outcome.ts'

/** What became of a prompt under hosts before: nothing that the engine remembers, a part, or all of it. */
export type LeftTurn =
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'said' }
  /** `isTold`: a line of the transcript says so. */
  | { readonly kind: 'ended'; readonly outcome: PromptOutcome; readonly isTold: boolean }

/** The turn that the newest line of its kind began. */
interface FoldedTurn {
  readonly promptId: string
  /** Where in the memory of the conversation it begins. */
  from: number
  outcome: PromptOutcome | undefined
}

/** Where a transcript stands: the newest conversation with what its engine remembers, and the newest turn. */
export class TranscriptFold {
  readonly #talkChars: number
  #conversation: string | undefined
  #entries: TranscriptEntry[] = []
  #turn: FoldedTurn | undefined
  #talk: { readonly promptId?: string; readonly text: string }[] = []

  #saidChars = 0

  constructor(talkChars: number) {
    this.#talkChars = talkChars
  }

  get conversation(): string | undefined {
    return this.#conversation
  }
  get entries(): readonly TranscriptEntry[] {
    return this.#entries
  }
  /** The newest of what was said before a prompt, for an engine that cannot read the memory of the one before. */
  talkBefore(promptId: string): string {
    const at = this.#talk.findIndex((said) => said.promptId === promptId)
    return (at < 0 ? this.#talk : this.#talk.slice(0, at)).map(({ text }) => text).join('\n\n')
  }

  /** A line that cannot be read is passed over: who wrote it knew more than we do. */
  take(text: string): void {
    const value = parseJson(text)
    const { data: line } = TranscriptLine.safeParse(value)
    if (line?.type === 'memory') {
      const entry = isJsonObject(value) ? value['entry'] : undefined
      if (isEntry(entry)) this.#remember(line.conversation, entry)
    } else if (line?.type === 'turn_started') this.#begin(line)
    else if (line?.type === 'notice') this.#say({ text: line.text })
    else if (line?.type === 'message') this.#say({ text: `you: ${line.text}` })
    else if (line?.type === 'turn_ended' && this.#turn?.promptId === line.prompt_id) {
      const { status, code, message } = line
      this.#turn.outcome = { status, code, message }
    }
  }

  left(promptId: string): LeftTurn {
    const turn = this.#turn
    if (turn?.promptId !== promptId) return { kind: 'unsaid' }
    if (turn.outcome !== undefined) return { kind: 'ended', outcome: turn.outcome, isTold: true }
    const after = this.#entries.slice(turn.from)
    const said = after.findLastIndex(({ type }) => type === 'input')
    if (said < 0) return { kind: 'unsaid' }
    const end = leftEnd(after.slice(said + 1))
    // A host that gives its agents back interrupts what they do; the next one goes on with it.
    if (end === undefined || end.kind === 'interrupted') return { kind: 'said' }
    return { kind: 'ended', outcome: outcomeOf(end), isTold: false }
  }

  #begin({ prompt_id: promptId, by, text }: Extract<TranscriptLine, { type: 'turn_started' }>): void {
    this.#say({ promptId, text: `${by}: ${text}` })
    // One that goes on after a restart has begun where it first did.
    if (this.#turn?.promptId !== promptId) this.#turn = { promptId, from: this.#entries.length, outcome: undefined }
  }

  #remember(conversation: string, entry: TranscriptEntry): void {
    if (conversation !== this.#conversation) {
      this.#conversation = conversation
      this.#entries = []
      if (this.#turn !== undefined) this.#turn.from = 0
    }
    this.#entries.push(entry)
  }

  #say(said: { readonly promptId?: string; readonly text: string }): void {
    this.#talk.push({ ...said, text: said.text.slice(0, this.#talkChars) })
    this.#saidChars += this.#talk.at(-1)?.text.length ?? 0
    while (this.#talk.length > 1 && this.#saidChars > this.#talkChars) this.#saidChars -= this.#talk.shift()?.text.length ?? 0
  }
}

export const isEntry = (value: JsonValue | undefined): value is TranscriptEntry =>
  isJsonObject(value) && typeof value['type'] === 'string'
