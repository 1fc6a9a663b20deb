import type { EngineEvent, TurnEnd } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import type { EventMessage } from '../../port/backed-conversation.ts'
import { Calls } from './calls.ts'
import { EVENT_TABLE } from './event-table.ts'
import { Reasoning } from './reasoning.ts'
import { failureOf } from './turn-failure.ts'
import { type TokenInfo, UsageReader } from './usage.ts'

/** Mounts that did not start are remembered until somebody takes a turn. */
const MOUNT_FAULTS_MAX = 64

export interface TurnHearer {
  event(event: EngineEvent): void
  ended(end: TurnEnd): void
  /** Codex began a turn that nobody asked for. */
  stray(): void
}

/** `asked`: a turn was sent and Codex has not begun it; `running`: it has, and tells of it under this id. */
type Phase = { readonly kind: 'idle' } | { readonly kind: 'asked' } | { readonly kind: 'running'; readonly submission: string }
const IDLE: Phase = { kind: 'idle' }

/** Reads the messages of one conversation and tells them in the words of the port. */
export class TurnReader {
  readonly #hearer: TurnHearer
  readonly #required: ReadonlySet<string>
  readonly #usage: UsageReader
  readonly #over = new Set<() => void>()
  readonly calls: Calls
  readonly reasoning: Reasoning
  #phase: Phase = IDLE
  #turns = 0
  #items = 0
  #requests = 0
  #message: string | undefined
  #failure: string | undefined
  #diff = ''
  #mountFaults: string[] = []

  constructor(
    hearer: TurnHearer,
    known: { readonly required: Iterable<string>; readonly initialMessages?: readonly EventMessage[] },
  ) {
    this.#hearer = hearer
    this.#required = new Set(known.required)
    this.#usage = new UsageReader(known.initialMessages)
    this.calls = new Calls((event) => this.emit(event))
    this.reasoning = new Reasoning(
      (event) => this.emit(event),
      () => this.#item('thought'),
    )
  }

  get isBusy(): boolean {
    return this.#phase.kind !== 'idle'
  }

  /** The number of the turn that was sent last. */
  get turn(): number {
    return this.#turns
  }

  /** A turn is about to be sent. Answers an id for it: Codex tells its own only later. */
  begin(): string {
    this.#phase = { kind: 'asked' }
    this.#turns += 1
    this.#message = undefined
    this.#failure = undefined
    this.#diff = ''
    return String(this.#turns)
  }

  /** It could not be sent. */
  cancel(): void {
    if (this.#phase.kind === 'asked') this.#phase = IDLE
  }

  /** Settles when no turn is under way. */
  over(): Promise<void> {
    if (!this.isBusy) return Promise.resolve()
    return new Promise((resolve) => this.#over.add(resolve))
  }

  /** `submission` is what Codex calls the turn; the empty one is the conversation itself. */
  read(submission: string, message: JsonObject): void {
    const type = typeof message['type'] === 'string' ? message['type'] : ''
    if (type === 'task_started') return this.#started(submission)
    if (submission === '') return this.#aside(type, message)
    // What still comes of a turn that was cut short is nobody's.
    if (this.#phase.kind !== 'running' || this.#phase.submission !== submission) return
    const row = EVENT_TABLE[type]
    if (row === undefined) return
    if (!type.startsWith('agent_reasoning')) this.reasoning.flush()
    if (!row(this, message)) this.emit({ type: 'warning', message: `Codex told ${type} in a way that is not known` })
  }

  emit(event: EngineEvent): void {
    this.#hearer.event(event)
  }

  messageDelta(delta: string): void {
    this.#message ??= this.#item('message')
    this.emit({ type: 'message_delta', item: this.#message, delta })
  }

  message(text: string): void {
    // A message that came at once has no pieces: it is one.
    if (this.#message === undefined) this.messageDelta(text)
    this.emit({ type: 'message', item: this.#message ?? '', text })
    this.#message = undefined
  }

  usage(info: TokenInfo | undefined): void {
    const counts = info === undefined ? undefined : this.#usage.read(info)
    if (counts === undefined) return
    this.#requests += 1
    const contextTokens = counts.last.input_tokens + counts.last.output_tokens
    this.emit({ type: 'usage', call: `request-${this.#requests}`, ...counts, estimated: false, contextTokens })
  }

  /** The same diff is told again with every request. */
  diff(diff: string): void {
    if (diff === this.#diff) return
    this.#diff = diff
    this.emit({ type: 'diff', diff })
  }

  failed(message: string): void {
    this.#failure = message
  }

  completed(message: string): void {
    const failure = this.#failure
    if (failure === undefined) return this.finish({ kind: 'completed', message })
    this.finish({ kind: 'failed', code: failureOf(failure), message: failure })
  }

  finish(end: TurnEnd): void {
    if (!this.isBusy) return
    this.reasoning.flush()
    this.reasoning.forget()
    this.calls.forget()
    this.#phase = IDLE
    this.#hearer.ended(end)
    for (const settle of this.#over) settle()
    this.#over.clear()
  }

  #started(submission: string): void {
    if (this.#phase.kind === 'idle') return this.#hearer.stray()
    if (this.#phase.kind === 'asked') this.#phase = { kind: 'running', submission }
    const faults = this.#mountFaults
    this.#mountFaults = []
    for (const message of faults) this.emit({ type: 'warning', message })
    const missing = faults.find((fault) => [...this.#required].some((name) => fault.includes(`\`${name}\``)))
    if (missing === undefined) return
    this.finish({ kind: 'failed', code: 'mount_failed', message: missing })
    this.#hearer.stray()
  }

  /** Servers that did not start are told as errors of the conversation, before its first turn. */
  #aside(type: string, message: JsonObject): void {
    const words = message['message']
    if (type !== 'error' || typeof words !== 'string') return
    this.#mountFaults = [...this.#mountFaults, words].slice(-MOUNT_FAULTS_MAX)
  }

  #item(kind: string): string {
    this.#items += 1
    return `${kind}-${this.#items}`
  }
}
