import { type GatewayCaller } from '@parley/access'
import { AgentId, TOOLS, ToolError, type ToolOutput, iso } from '@parley/protocol'
import { type AgentRecord, callsLog } from '@parley/store'
import { type CallChain, verifyCalls } from '@parley/rulebook'
import { type AgentWorld, serveTool } from './agent-world.ts'
import { findAgent, isTheirs } from './find-agent.ts'

/** What one call walks along, whichever is first. */
const PIECE_BYTES = 4 * 1024 * 1024
const PIECE_AGENTS = 200
const PIECE_FAULTS = 100
const PAGE_AGENTS = 50

export const auditVerify = serveTool(TOOLS['audit.verify'], async ({ agent_id: only, cursor }, { caller, world }) => {
  const { store, callChain: chain } = world
  if (chain === null) throw new ToolError('unavailable', 'a running gateway alone has the key of the chains')
  const piece = new Piece(store, chain)
  const from = cursor === undefined ? undefined : readPlace(cursor)
  if (only !== undefined) {
    const agent = await findAgent(store, only, caller)
    return piece.answer((await piece.walk(agent, from?.seq ?? 0)) ? placeText(agent, piece.seq) : null)
  }
  // One that is gone since has nothing left to prove.
  const seq = from?.seq ?? null
  const begun = from === undefined || seq === null ? undefined : await store.agents.byId(from.beforeId)
  if (begun !== undefined && isWalked(begun, caller) && (await piece.walk(begun, seq ?? 0)))
    return piece.answer(placeText(begun, piece.seq))
  for await (const agent of agentsBefore(store, caller, from)) {
    if (await piece.walk(agent, 0)) return piece.answer(placeText(agent, piece.seq))
    if (piece.isFull()) return piece.answer(placeText(agent, null))
  }
  return piece.answer(null)
})

/** Where a walk goes on: in the log of an agent at an entry, or with the agents after it. */
interface Place {
  readonly beforeCreatedAt: number
  readonly beforeId: AgentId
  readonly seq: number | null
}
const placeText = ({ createdAt, id }: AgentRecord, seq: number | null): string => `${createdAt}.${id}.${seq ?? 'end'}`

function readPlace(cursor: string): Place {
  const [createdAt = '', idText, seqText = ''] = cursor.split('.')
  const id = AgentId.safeParse(idText)
  if (!id.success || !/^\d{1,15}$/.test(createdAt) || !/^(?:\d{1,15}|end)$/.test(seqText))
    throw new ToolError('invalid_argument', 'cursor is not one that audit.verify gave', { field: 'cursor' })
  return { beforeCreatedAt: Number(createdAt), beforeId: id.data, seq: seqText === 'end' ? null : Number(seqText) }
}

const isWalked = (agent: AgentRecord, caller: Pick<GatewayCaller, 'admin' | 'userId'>): boolean =>
  agent.status === 'active' && isTheirs(agent, caller)

/** Theirs, newest first. */
async function* agentsBefore(
  { agents }: AgentWorld['store'],
  caller: Pick<GatewayCaller, 'admin' | 'userId'>,
  from: Place | undefined,
): AsyncGenerator<AgentRecord, void, void> {
  if (!caller.admin && caller.userId === null) return
  const owner = caller.admin || caller.userId === null ? {} : { ownerId: caller.userId }
  let before = from === undefined ? {} : { beforeCreatedAt: from.beforeCreatedAt, beforeId: from.beforeId }
  for (;;) {
    const page = await agents.list({ ...owner, ...before, limit: PAGE_AGENTS })
    yield* page.filter((agent) => isWalked(agent, caller))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_AGENTS) return
    before = { beforeCreatedAt: last.createdAt, beforeId: last.id }
  }
}

/** What one call found. */
class Piece {
  /** The entry at which the last walk stopped. */
  seq = 0
  readonly #store: AgentWorld['store']
  readonly #chain: CallChain
  readonly #faults: ToolOutput<'audit.verify'>['faults'] = []
  #agents = 0
  #lines = 0
  #unchained = 0
  #since: number | null = null
  #bytes = 0

  constructor(store: AgentWorld['store'], chain: CallChain) {
    this.#store = store
    this.#chain = chain
  }

  isFull(): boolean {
    return this.#agents >= PIECE_AGENTS || this.#bytes >= PIECE_BYTES || this.#faults.length >= PIECE_FAULTS
  }

  /** Whether there is more of it to walk along. */
  async walk({ id, name }: AgentRecord, seq: number): Promise<boolean> {
    const part = await verifyCalls({
      logs: this.#store.logs,
      chain: this.#chain,
      name: callsLog(id),
      seq,
      maxBytes: PIECE_BYTES - this.#bytes,
      maxFaults: PIECE_FAULTS - this.#faults.length,
    })
    this.#faults.push(...part.faults.map((fault) => ({ agent_id: id, agent: name, ...fault })))
    this.#lines += part.lines
    this.#unchained += part.unchained
    this.#bytes += part.bytes
    if (part.since !== null) this.#since = Math.min(part.since, this.#since ?? Infinity)
    if (part.next === null) this.#agents += 1
    else this.seq = part.next
    return part.next !== null
  }

  answer(next_cursor: string | null): ToolOutput<'audit.verify'> {
    const since = this.#since === null ? null : iso(this.#since)
    return { agents: this.#agents, lines: this.#lines, not_chained: this.#unchained, since, faults: this.#faults, next_cursor }
  }
}
