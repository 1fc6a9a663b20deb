import { RemoteFailure } from '@parley/rpc/line-peer'
import type { DialectFacts } from './dialect-facts.ts'
import { type ClientInfo, type UserAgentFacts, userAgent } from '../mcp/user-agent.ts'

/** Who the client is. It may say so once, and in some dialects must say so first. */
export class Handshake {
  readonly #dialect: DialectFacts
  readonly #facts: UserAgentFacts
  #client: ClientInfo | undefined

  constructor(dialect: DialectFacts, facts: UserAgentFacts) {
    this.#dialect = dialect
    this.#facts = facts
  }

  begin(client: ClientInfo): void {
    if (this.#client !== undefined) throw new RemoteFailure('invalid_request', 'Already initialized')
    this.#client = client
  }

  /** Throws what the client hears of a request that came too early. */
  expectBegun(): void {
    if (this.#dialect.greetsFirst && this.#client === undefined) throw new RemoteFailure('invalid_request', 'Not initialized')
  }

  get userAgent(): string {
    return userAgent(this.#dialect.version, this.#facts, this.#client)
  }
}
