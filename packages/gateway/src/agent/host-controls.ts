import { type AgentClaim, type AgentId, type HostAction, NOTIFICATIONS } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import { type Store, agentTopic, onceAtATime } from '@parley/store'
import type { Logger } from 'pino'
import type { GatewayCaller } from '../caller.ts'

interface Watched {
  readonly claim: AgentClaim
  link: Link<GatewayCaller>
  /** The version of the agent that its host knows of. */
  known: number
  readonly off: () => void
}

/**
 * Tells hosts what changes about the agents that they hold, on the connection that they last spoke on. Nothing here must survive a restart: a
 * host that renews its claims is watched again.
 */
export class HostControls {
  readonly #store: Pick<Store, 'agents' | 'topics'>
  readonly #log: Logger
  readonly #watched = new Map<AgentId, Watched>()
  readonly #closing = new AbortController()
  #grants: (() => void) | undefined

  constructor(store: Pick<Store, 'agents' | 'topics'>, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /** We go: nobody waits for an agent here any more. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** A host speaks about an agent that it holds; `version` is what it was told of it, where it was. */
  watch(claim: AgentClaim, link: Link<GatewayCaller>, version?: number): void {
    this.#grants ??= this.#store.topics.subscribe('grants', () => this.#tellAll())
    const before = this.#watched.get(claim.agent_id)
    if (before !== undefined && before.claim.claim_id === claim.claim_id) {
      before.link = link
      before.known = version ?? before.known
      return
    }
    before?.off()
    const id = claim.agent_id
    const failed = (error: unknown): void => this.#log.warn({ err: error, agent: id }, 'a change of an agent cannot be told now')
    const off = this.#store.topics.subscribe(
      agentTopic(id),
      onceAtATime(() => this.#look(id), failed),
    )
    this.#watched.set(id, { claim, link, known: version ?? 0, off })
  }

  /** The host has let go of it, or lost it. */
  forget({ agent_id: id, claim_id: claimId }: AgentClaim): void {
    const watched = this.#watched.get(id)
    if (watched?.claim.claim_id !== claimId) return
    watched.off()
    this.#watched.delete(id)
  }

  close(): void {
    this.#closing.abort()
    this.#grants?.()
    for (const { off } of this.#watched.values()) off()
    this.#watched.clear()
  }

  async #look(id: AgentId): Promise<void> {
    const agent = await this.#store.agents.byId(id)
    const watched = this.#watched.get(id)
    if (watched === undefined) return
    if (agent === undefined || agent.status === 'deleting') {
      this.#tell(watched, 'release')
      return
    }
    if (agent.version > watched.known && this.#tell(watched, 'update')) watched.known = agent.version
  }

  #tellAll(): void {
    for (const watched of this.#watched.values()) this.#tell(watched, 'update')
  }

  /** A connection that lags hears of it when it asks again. */
  #tell({ claim, link }: Watched, action: HostAction): boolean {
    if (link.signal.aborted) {
      this.forget(claim)
      return false
    }
    return link.notify(NOTIFICATIONS.host_control.method, { ...claim, action })
  }
}
