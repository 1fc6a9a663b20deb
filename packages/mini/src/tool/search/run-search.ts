import { Worker } from 'node:worker_threads'
import { messageOf } from '@parley/protocol/wire'
import { TOOL_BOUNDS } from '../bounds.ts'
import { type Found, SearchNews, type SearchSums } from './search-news.ts'
import type { SearchOrder } from './search-order.ts'

export type SearchOutcome =
  /** `found` is what was found until the time was up. */
  | { readonly kind: 'searched'; readonly found: readonly Found[]; readonly sums: SearchSums }
  | { readonly kind: 'too-slow'; readonly found: readonly Found[] }
  | { readonly kind: 'refused'; readonly message: string }

/**
 * Searches in a thread that can be ended: a regular expression may match for hours, and nothing else stops it.
 * The time counts from when the thread has begun, so that a crowded machine takes nothing of it. Rejects only when the signal fired.
 */
export async function runSearch(order: SearchOrder, timeoutMs: number, signal: AbortSignal): Promise<SearchOutcome> {
  signal.throwIfAborted()
  const worker = new Worker(new URL('./search-main.ts', import.meta.url), {
    workerData: order,
    env: {},
    execArgv: [],
    // Whatever it had open when it was ended is closed.
    trackUnmanagedFds: true,
    resourceLimits: { maxOldGenerationSizeMb: TOOL_BOUNDS.searchMemoryMb },
  })
  const found: Found[] = []
  const ended = Promise.withResolvers<SearchOutcome>()
  const giveUp = (): void => ended.resolve({ kind: 'too-slow', found })
  let timer = setTimeout(giveUp, TOOL_BOUNDS.searchStartMs)
  const abort = (): void => ended.reject(new Error('the search was given up', { cause: signal.reason }))
  signal.addEventListener('abort', abort, { once: true })
  worker.on('message', (message: unknown) => {
    const news = SearchNews.parse(message)
    if (news.kind === 'begun') {
      clearTimeout(timer)
      timer = setTimeout(giveUp, timeoutMs)
    } else if (news.kind === 'found') found.push(...news.found)
    else if (news.kind === 'refused') ended.resolve(news)
    else ended.resolve({ kind: 'searched', found, sums: news.sums })
  })
  worker.on('error', (error) => ended.resolve({ kind: 'refused', message: `the search failed: ${messageOf(error)}` }))
  worker.on('exit', () => ended.resolve({ kind: 'refused', message: 'the search ended without an answer' }))
  try {
    return await ended.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    await worker.terminate()
  }
}
