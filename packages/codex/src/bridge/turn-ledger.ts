import type { EngineEvent } from '@parley/agent'

type Begin = Extract<EngineEvent, { readonly type: 'command_begin' | 'patch_begin' | 'tool_begin' }>
type Kind = 'command' | 'patch' | 'tool'

/** What has begun in a turn and not ended: every `…_begin` gets exactly one `…_end`. */
export class TurnLedger {
  readonly #open = new Map<string, { readonly kind: Kind; readonly call: string; readonly since: number }>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** False for an event that must not be told: a beginning that was told already, or the end of what never began. */
  admit(event: EngineEvent): boolean {
    const { type } = event
    if (type === 'command_begin' || type === 'patch_begin' || type === 'tool_begin') return this.#begin(event)
    if (type === 'command_end') return this.#open.delete(`command ${event.call}`)
    if (type === 'patch_end') return this.#open.delete(`patch ${event.call}`)
    if (type === 'tool_end') return this.#open.delete(`tool ${event.call}`)
    return true
  }

  /** The ends of all that is open, for a turn that ends. `declined` are the calls that somebody denied. */
  settle(reason: string, declined: ReadonlySet<string>): EngineEvent[] {
    const ends = [...this.#open.values()].map(({ kind, call, since }): EngineEvent => {
      const durationMs = Math.max(0, Math.round(this.#now() - since))
      const status = declined.has(call) ? 'declined' : 'failed'
      if (kind === 'command') return { type: 'command_end', call, status, exitCode: null, output: '', durationMs }
      if (kind === 'patch') return { type: 'patch_end', call, status, error: reason }
      return { type: 'tool_end', call, status, result: null, error: reason, durationMs }
    })
    this.#open.clear()
    return ends
  }

  #begin(event: Begin): boolean {
    const kind = event.type === 'command_begin' ? 'command' : event.type === 'patch_begin' ? 'patch' : 'tool'
    const key = `${kind} ${event.call}`
    if (this.#open.has(key)) return false
    this.#open.set(key, { kind, call: event.call, since: this.#now() })
    return true
  }
}
