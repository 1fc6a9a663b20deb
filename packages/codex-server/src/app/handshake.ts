import { RemoteFailure } from '@parley/rpc/line-peer'
import { INVALID_REQUEST } from './answer-error.ts'
import type { AppDialect, UserAgentFacts } from './app-server-options.ts'
import { type ClientInfo, userAgent } from './user-agent.ts'

/** Who the client is. In 0.44 it must say so first, and once. */
export class Handshake {
  readonly #dialect: AppDialect
  readonly #facts: UserAgentFacts
  #client: ClientInfo | undefined

  constructor(dialect: AppDialect, facts: UserAgentFacts) {
    this.#dialect = dialect
    this.#facts = facts
  }

  begin(client: ClientInfo): void {
    if (this.#client !== undefined) throw new RemoteFailure(INVALID_REQUEST, 'Already initialized')
    this.#client = client
  }

  /** Throws what the client hears of a request that came too early. */
  expectBegun(): void {
    if (this.#dialect === '0.44' && this.#client === undefined) throw new RemoteFailure(INVALID_REQUEST, 'Not initialized')
  }

  get userAgent(): string {
    return userAgent(this.#dialect, this.#facts, this.#client)
  }
}
