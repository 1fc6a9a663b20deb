import type { JobVoice, StatusLine } from '../tester.ts'
import type { Redactor, TextRedaction } from './redact.ts'

/** Kinds of pieces that are watched for secrets which a border cuts; more are watched piece by piece. */
const KINDS_MAX = 32

/** What an engine says about itself, without secrets, also those that it says in two pieces. */
export class CleanVoice implements Pick<JobVoice, 'status'> {
  readonly #voice: JobVoice
  readonly #redactor: Redactor
  /** Puts what was said earlier into the log first. */
  readonly #before: () => void
  readonly #streams = new Map<string, { line: StatusLine; readonly redaction: TextRedaction }>()

  constructor(voice: JobVoice, redactor: Redactor, before: () => void) {
    this.#voice = voice
    this.#before = before
    this.#redactor = redactor
  }

  status(line: StatusLine): string {
    this.#before()
    const { kind, delta } = line
    if (kind === undefined || delta === undefined) return this.#voice.status(this.#redactor.line(line))
    const known = this.#streams.get(kind)
    if (known === undefined && this.#streams.size >= KINDS_MAX) return this.#voice.status(this.#redactor.line(line))
    const stream = known ?? { line, redaction: this.#redactor.stream() }
    stream.line = line
    this.#streams.set(kind, stream)
    return this.#voice.status(this.#redactor.line({ ...line, delta: stream.redaction.push(delta) }))
  }

  /** What was held back goes out. */
  end(): void {
    for (const { line, redaction } of this.#streams.values()) {
      const delta = redaction.end()
      if (delta !== '') this.#voice.status(this.#redactor.line({ ...line, delta }))
    }
    this.#streams.clear()
  }
}
