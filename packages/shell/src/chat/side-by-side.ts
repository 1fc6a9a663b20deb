import { ToolError, unlessAborted } from '@parley/protocol'

interface SideBySide {
  /** When this is over, all is. */
  readonly until: Promise<void>
  /** These end it only by failing. */
  readonly beside: readonly Promise<void>[]
  /** Ends what no signal reaches. */
  readonly end: () => void
}

/** Waits for one thing while others go on. `over` ends them all, and they have ended when this settles. */
export async function untilFirst(over: AbortController, { until, beside, end }: SideBySide): Promise<void> {
  const failed = Promise.withResolvers<never>()
  for (const each of beside) each.catch(failed.reject)
  try {
    await unlessAborted(Promise.race([until, failed.promise]), over.signal)
  } finally {
    over.abort()
    end()
    await Promise.allSettled([until, ...beside])
  }
}

/** A token may read the chat and not what waits for approval: that is told, and the rest goes on. */
export function unlessForbidden(warn: (words: string) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ToolError) || error.code !== 'forbidden') throw error
    warn(`what waits for approval is not shown: ${error.message}`)
  }
}
