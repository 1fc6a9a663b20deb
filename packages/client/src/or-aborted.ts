import { WireError } from '@parley/rpc/browser'

/** What a promise comes to, unless the signal fires first. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new WireError('aborted', 'aborted while there was no connection'))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // Also after the abort somebody has to hear of its failure: a rejection that nobody hears ends the process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
