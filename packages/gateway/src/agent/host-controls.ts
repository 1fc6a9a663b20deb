import { type GatewayCaller } from '@parley/access'
import { type AgentClaim, type AgentId, type HostAction, NOTIFICATIONS, type PromptId } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import { type Store, agentTopic, newsTopic, onceAtATime } from '@parley/store'
import type { Logger } from 'pino'

interface Watched {
  readonly claim: AgentClaim
  link: Link<GatewayCaller>
  /** The version of the agent that its host knows of. */
  known: number
  /** The prompt whose end it was asked for. */
  aborted: PromptId | undefined
  readonly look: () => void
  readonly off: () => void
}

/**
 * Tells hosts what changes about the agents that they hold, on the connection that they last spoke on. Nothing here must survive a restart: a
 * host that renews its claims is watched again.
 */
export class HostControls {
  readonly #store: Pick<Store, 'agents' | 'prompts' | 'topics'>
  readonly #log: Logger
  readonly #watched = new Map<AgentId, Watched>()
  readonly #closing = new AbortController()
  /** What is about many agents at once. */
  #shared: readonly (() => void)[] | undefined

  constructor(store: Pick<Store, 'agents' | 'prompts' | 'topics'>, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /** We go: nobody waits for an agent here any more. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** A host speaks about an agent that it holds; `version` is what it was told of it, where it was. */
  watch(claim: AgentClaim, link: Link<GatewayCaller>, version?: number): void {
    this.#shared ??= ['grants', 'policies'].map((topic) => this.#store.topics.subscribe(topic, () => this.#tellAll()))
    const before = this.#watched.get(claim.agent_id)
    if (before !== undefined && before.claim.claim_id === claim.claim_id) {
      const isOther = before.link !== link
      before.link = link
      before.known = version ?? before.known
      // What was told on the connection before may never have arrived.
      if (isOther) {
        before.aborted = undefined
        before.look()
        this.#tell(before, 'news')
      }
      return
    }
    before?.off()
    const id = claim.agent_id
    const failed = (error: unknown): void => this.#log.warn({ err: error, agent: id }, 'a change of an agent cannot be told now')
    const look = onceAtATime(() => this.#look(id), failed)
    const offs = [
      this.#store.topics.subscribe(agentTopic(id), look),
      this.#store.topics.subscribe(newsTopic(id), () => this.#tellNews(id)),
    ]
    const off = (): void => {
      for (const each of offs) each()
    }
    this.#watched.set(id, { claim, link, known: version ?? 0, aborted: undefined, look, off })
  }

  /** The host has let go of it, or lost it: the one that is told on such a connection. */
  forget({ agent_id: id, claim_id: claimId }: AgentClaim, isTheirs: (link: Link<GatewayCaller>) => boolean): void {
    const watched = this.#watched.get(id)
    if (watched?.claim.claim_id !== claimId || !isTheirs(watched.link)) return
    watched.off()
    this.#watched.delete(id)
  }

  close(): void {
    this.#closing.abort()
    for (const off of this.#shared ?? []) off()
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
    if (agent.kind === 'local') await this.#lookAtPrompts(id, watched)
  }

  /** What waits while nothing is answered is told each time that it is seen: to be told twice costs a host one question. */
  async #lookAtPrompts(id: AgentId, watched: Watched): Promise<void> {
    const { running, queued } = await this.#store.prompts.open(id)
    if (running === undefined && queued > 0) this.#tell(watched, 'prompt')
    if (running === undefined || running.abortedAt === null || watched.aborted === running.id) return
    if (this.#tell(watched, 'abort')) watched.aborted = running.id
  }

  /** A host asks for it when it needs it: to be told twice costs one question. */
  #tellNews(id: AgentId): void {
    const watched = this.#watched.get(id)
    if (watched !== undefined) this.#tell(watched, 'news')
  }

  #tellAll(): void {
    for (const watched of this.#watched.values()) this.#tell(watched, 'update')
  }

  /** A connection that lags hears of it when it asks again. */
  #tell({ claim, link }: Watched, action: HostAction): boolean {
    if (link.signal.aborted) {
      this.forget(claim, (each) => each === link)
      return false
    }
    return link.notify(NOTIFICATIONS.host_control.method, { ...claim, action })
  }
}
