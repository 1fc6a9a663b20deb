import type { EngineEvent, FileChange } from '@parley/agent'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'

type Emit = (event: EngineEvent) => void
type Kind = 'command' | 'patch' | 'tool'

export interface ToolAsked {
  readonly mount: string | null
  readonly tool: string
  readonly arguments: JsonValue
}

export interface EndedCommand {
  readonly exitCode: number
  readonly output: string
  readonly durationMs: number
}

/** Refused calls are remembered until their end is told; more at once than anybody is asked in one turn. */
const DECLINED_MAX = 1_000

/** The calls of one turn: each begins once and ends once, whatever Codex tells of it. */
export class Calls {
  readonly #emit: Emit
  readonly #open = new Map<string, Kind>()
  readonly #declined = new Set<string>()

  constructor(emit: Emit) {
    this.#emit = emit
  }

  command(call: string, argv: readonly string[], folder: string): void {
    if (this.#begins(call, 'command')) this.#emit({ type: 'command_begin', call, argv, folder })
  }

  output(call: string, stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    if (this.#open.has(call)) this.#emit({ type: 'command_output', call, stream, bytes })
  }

  commandEnd(call: string, { exitCode, output, durationMs }: EndedCommand): void {
    if (!this.#open.delete(call)) return
    const status = exitCode === 0 ? 'completed' : 'failed'
    this.#emit({ type: 'command_end', call, status, exitCode, output, durationMs })
  }

  patch(call: string, changes: readonly FileChange[]): void {
    if (this.#begins(call, 'patch')) this.#emit({ type: 'patch_begin', call, changes })
  }

  patchEnd(call: string, error: string | null): void {
    if (this.#open.delete(call)) this.#emit({ type: 'patch_end', call, status: error === null ? 'completed' : 'failed', error })
  }

  tool(call: string, asked: ToolAsked): void {
    if (this.#begins(call, 'tool')) this.#emit({ type: 'tool_begin', call, ...asked })
  }

  /** `answer` is what the server answered, or in words why it did not. */
  toolEnd(call: string, answer: JsonObject | string, durationMs: number): void {
    if (!this.#open.delete(call)) return
    const result = typeof answer === 'string' ? null : answer
    const error = typeof answer === 'string' ? answer : answer['isError'] === true ? wordsOf(answer) : null
    this.#emit({ type: 'tool_end', call, status: error === null ? 'completed' : 'failed', result, error, durationMs })
  }

  /** Somebody said no. Old versions tell neither a beginning nor an end of such a call, newer ones both: it has them once. */
  declined(call: string, begin: (calls: this) => void): void {
    if (this.#declined.size >= DECLINED_MAX) return
    begin(this)
    this.#declined.add(call)
    this.#decline(call)
  }

  /** Whether one is under way: the model is asked again after it. */
  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  /** Nothing of the turn goes on: who owns the turn ends what is open. */
  forget(): void {
    this.#open.clear()
    this.#declined.clear()
  }

  #begins(call: string, kind: Kind): boolean {
    if (this.#open.has(call) || this.#declined.has(call)) return false
    this.#open.set(call, kind)
    return true
  }

  #decline(call: string): void {
    const kind = this.#open.get(call)
    this.#open.delete(call)
    if (kind === 'command')
      this.#emit({ type: 'command_end', call, status: 'declined', exitCode: null, output: '', durationMs: 0 })
    else if (kind === 'patch') this.#emit({ type: 'patch_end', call, status: 'declined', error: 'it was not allowed' })
  }
}

function wordsOf(answer: JsonObject): string {
  const content = Array.isArray(answer['content']) ? answer['content'].filter(isJsonObject) : []
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
}
