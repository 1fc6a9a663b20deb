import type { EngineEvent, Gate, GateCall, GateDecision } from '@parley/agent'
import { iso, isJsonObject, type JsonValue } from '@parley/protocol'
import type { AgentGate, OwnCall } from '../ask/agent-gate.ts'
import type { CallLog } from '../call-log.ts'

export interface OwnCallsOptions {
  readonly gate: AgentGate
  readonly calls: CallLog
  readonly now: () => number
}

/** Calls under way that are followed to their end; of more, the end is not written down. */
const FOLLOWED_MAX = 1_024
const KINDS: Readonly<Record<string, OwnCall['kind']>> = { shell: 'command', apply_patch: 'patch' }
const BY = 'engine'

/**
 * The gate of an engine's own tools: what it decides is written down before anything is done, as for mounts. Calls of mounts are
 * decided about and written down by the compositor, so that none passes two gates.
 */
export class OwnCalls implements Gate {
  readonly #options: OwnCallsOptions
  readonly #followed = new Set<string>()

  constructor(options: OwnCallsOptions) {
    this.#options = options
  }

  async decide({ call, mount, tool, arguments: args }: GateCall, signal: AbortSignal): Promise<GateDecision> {
    if (mount !== null) return { kind: 'allow' }
    const { calls, gate, now } = this.#options
    const own = ownCallOf(tool, args)
    const { kind } = own
    const askedAt = now()
    const decision = await gate.decideOwn(own, signal)
    gate.decided(call, decision)
    await calls.write({
      at: this.#at(),
      id: call,
      step: 'decided',
      by: BY,
      kind,
      mount,
      name: own.name,
      arguments: own.arguments,
      decision,
      ms: now() - askedAt,
    })
    if (decision.kind === 'allow') {
      calls.noteUnlessEnded(call, { at: this.#at(), id: call, step: 'dispatched' })
      if (this.#followed.size < FOLLOWED_MAX) this.#followed.add(call)
    }
    return decision
  }

  /** What became of them. */
  heard(event: EngineEvent): void {
    if (event.type !== 'command_end' && event.type !== 'patch_end' && event.type !== 'tool_end') return
    if (!this.#followed.delete(event.call)) return
    this.#options.gate.ended(event.call, event.status === 'completed' ? 'returned' : 'failed')
    const ms = 'durationMs' in event ? event.durationMs : 0
    const end = { ms, isError: event.status !== 'completed' }
    this.#options.calls.noteEnd(event.call, { at: this.#at(), id: event.call, step: 'returned', ...end })
  }

  #at(): string {
    return iso(this.#options.now())
  }
}

/** A command by its program, with all that it is told as `argv`; everything else by the name of the tool. */
function ownCallOf(tool: string, args: JsonValue): OwnCall {
  const kind = KINDS[tool] ?? 'tool'
  const command = isJsonObject(args) ? args['command'] : undefined
  if (kind !== 'command' || !isJsonObject(args)) return { kind, name: tool, arguments: args }
  const argv = typeof command === 'string' ? ['bash', '-lc', command] : Array.isArray(command) ? command : []
  const [program] = argv
  return { kind, name: typeof program === 'string' && program !== '' ? program : tool, arguments: { ...args, argv } }
}
