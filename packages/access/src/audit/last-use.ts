import type { TokenId } from '@parley/protocol'
import type { Tokens } from '@parley/store'
import type { Logger } from 'pino'

const FLUSH_MS = 5_000
const TOKENS_MAX = 10_000

/** When tokens were last used, written every few seconds. Only a convenience: a crash may lose the last few. */
export interface LastUse {
  seen(tokenId: TokenId): void
  close(): Promise<void>
}

export function openLastUse(tokens: Tokens, log: Logger, now: () => number): LastUse {
  const used = new Set<TokenId>()
  /** One write after the other: the last one is waited for at the end. */
  let writing = Promise.resolve()
  const write = async (): Promise<void> => {
    if (used.size === 0) return
    const ids = [...used]
    used.clear()
    await tokens.used(ids, now()).catch((error: unknown) => log.warn({ err: error }, 'last use of tokens not written'))
  }
  const flush = (): Promise<void> => (writing = writing.then(write))
  const timer = setInterval(() => void flush(), FLUSH_MS)
  timer.unref()
  return {
    seen(tokenId) {
      if (used.size < TOKENS_MAX) used.add(tokenId)
    },
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
