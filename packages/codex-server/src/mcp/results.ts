import type { JsonObject } from '@parley/protocol'
import type { DialectFacts } from './dialect-facts.ts'

/** The results of the two tools. A failure is one, too, and says so in every dialect. */
export class Results {
  readonly #dialect: DialectFacts

  constructor(dialect: DialectFacts) {
    this.#dialect = dialect
  }

  done(threadId: string, text: string): JsonObject {
    return { ...this.#structured(threadId, text), content: [{ type: 'text', text }] }
  }

  failed(text: string, threadId?: string): JsonObject {
    return { isError: true, content: [{ type: 'text', text }], ...this.#structured(threadId, text) }
  }

  #structured(threadId: string | undefined, content: string): JsonObject {
    return threadId === undefined ? {} : this.#dialect.structured(threadId, content)
  }
}
