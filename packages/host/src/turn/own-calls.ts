import type { EngineEvent, Gate, GateCall, GateDecision } from '@parley/agent'
import { COMPOSITOR_TOOLS, iso, isJsonObject, type JsonObject, type JsonValue } from '@parley/protocol'
import type { AgentGate, OwnCall } from '../ask/agent-gate.ts'
import type { CallLog } from '../call-log.ts'
import type { EngineCalls } from './engine-calls.ts'

export interface OwnCallsOptions {
  readonly gate: AgentGate
  readonly engineCalls: EngineCalls
  readonly calls: CallLog
  readonly now: () => number
}

/** Calls under way that are followed to their end; of more, the end is not written down. */
const FOLLOWED_MAX = 1_024
const KINDS: Readonly<Record<string, OwnCall['kind']>> = { shell: 'command', apply_patch: 'patch' }
const BY = 'engine'
const ARGV_FOLLOWS = 'argv follows from command, which is what a person changes'
/** Tools of the compositor's own that change something. */
const SENT_AT_ONCE: ReadonlySet<string> = new Set(
  Object.values(COMPOSITOR_TOOLS).flatMap(({ name, annotations }) => (annotations.readOnlyHint ? [] : [name])),
)

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

  async decide(asked: GateCall, signal: AbortSignal): Promise<GateDecision> {
    const { call, mount, tool } = asked
    if (mount !== null) return this.#decidedLater(asked)
    const { calls, gate, now } = this.#options
    const own = ownCallOf(tool, asked.arguments)
    const { kind, name, arguments: args } = own
    const askedAt = now()
    const editedCall = (edited: JsonObject): OwnCall | string =>
      kind === 'command' && 'argv' in edited ? ARGV_FOLLOWS : ownCallOf(tool, edited)
    const decision = await gate.decideOwn(own, { signal, isAgain: asked.isAgain, editedCall })
    gate.decided(call, decision)
    const ms = now() - askedAt
    const writing = calls.write({
      at: this.#at(),
      id: call,
      step: 'decided',
      by: BY,
      kind,
      mount,
      name,
      arguments: args,
      decision,
      ms,
    })
    if (decision.kind !== 'allow') {
      await writing
      return decision
    }
    await Promise.all([writing, asked.sending()])
    calls.noteUnlessEnded(call, { at: this.#at(), id: call, step: 'dispatched' })
    if (this.#followed.size < FOLLOWED_MAX) this.#followed.add(call)
    return decision
  }

  /** The compositor decides, and has it written down. What it does itself it does at once: only what reads may be done again. */
  #decidedLater(asked: GateCall): GateDecision {
    this.#options.engineCalls.began(asked)
    return SENT_AT_ONCE.has(asked.tool) ? { kind: 'allow' } : { kind: 'allow', isLater: true }
  }

  /** What became of them. */
  heard(event: EngineEvent): void {
    if (event.type !== 'command_end' && event.type !== 'patch_end' && event.type !== 'tool_end') return
    this.#options.engineCalls.ended(event.call)
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
