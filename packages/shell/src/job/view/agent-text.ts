import type { AgentStatusItem } from '@parley/protocol'
import { plainLines, plainText } from '@parley/screen'

/** What the pieces of each kind are pieces of, as a verb. */
const VERBS: Readonly<Record<string, string>> = {
  reasoning_summary_delta: 'thinks',
  agent_message_delta: 'says',
  command_output_delta: 'prints',
}
const BOUNDARY = 'reasoning_summary_boundary'
/** A line of an agent longer than this is broken, so that what is kept stays bounded. */
const LINE_CHARS = 1_000

/** Whether it is a piece of what an agent writes, and no step of the job. */
export const isPiece = (item: AgentStatusItem): boolean =>
  item.kind !== undefined && (item.delta !== undefined || item.kind === BOUNDARY)

/** One line of what an agent wrote. */
export interface AgentLine {
  /** `thinks`, `says`, `prints`. */
  readonly verb: string
  readonly text: string
}

/** The line as it is shown. */
export const agentLine = ({ verb, text }: AgentLine): string => `  ${verb}: ${text}`

/**
 * Puts together what an agent writes from its pieces, line by line. A document, which is for programs, is told by its size
 * alone: its content comes as the job's artifacts.
 */
export class AgentText {
  #kind = ''
  #line = ''
  /** Characters of a document that is being written; undefined while it is none, or may not be one yet. */
  #document: number | undefined
  #isAtStart = true

  /** The line that is being written. */
  get unfinished(): AgentLine | undefined {
    if (this.#document !== undefined) return { verb: 'says', text: `(its answer, ${this.#document} characters so far)` }
    return linesOf(this.#kind, [this.#line])[0]
  }

  /** Takes a piece and answers the lines that are whole now. */
  push({ kind = '', delta = '' }: Pick<AgentStatusItem, 'kind' | 'delta'>): AgentLine[] {
    if (kind === BOUNDARY) return this.flush()
    const before = kind === this.#kind ? [] : this.flush()
    this.#kind = kind
    if (this.#document !== undefined) {
      this.#document += delta.length
      return before
    }
    this.#line += plainLines(delta)
    if (this.#isAtStart && this.#line.trim() !== '') {
      this.#isAtStart = false
      if (kind === 'agent_message_delta' && /^\s*(\{|```)/.test(this.#line)) {
        this.#document = this.#line.length
        this.#line = ''
        return before
      }
    }
    return [...before, ...this.#takeLines()]
  }

  /** Nothing more comes of what was begun: answers the rest of it. */
  flush(): AgentLine[] {
    const rest =
      this.#document === undefined
        ? linesOf(this.#kind, [this.#line])
        : [{ verb: 'says', text: `(its answer, ${this.#document} characters)` }]
    this.#line = ''
    this.#document = undefined
    this.#isAtStart = true
    return rest
  }

  #takeLines(): AgentLine[] {
    const lines = this.#line.split('\n')
    let rest = lines.pop() ?? ''
    while (rest.length > LINE_CHARS) {
      lines.push(rest.slice(0, LINE_CHARS))
      rest = rest.slice(LINE_CHARS)
    }
    this.#line = rest
    return linesOf(this.#kind, lines)
  }
}

const linesOf = (kind: string, lines: readonly string[]): AgentLine[] =>
  lines.flatMap((line) => (line.trim() === '' ? [] : [{ verb: VERBS[kind] ?? plainText(kind), text: clean(line) }]))
/** Emphasis is for pages. */
const clean = (line: string): string => line.replaceAll('**', '').replaceAll('\t', '  ').trimEnd()
