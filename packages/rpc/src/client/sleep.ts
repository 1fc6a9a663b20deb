import { WireError } from '@parley/fetch/browser'

/** Waits, unless the signal comes first. Works in browsers too. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(new WireError('aborted', 'aborted while waiting'))
    const abort = (): void => {
      clearTimeout(timer)
      reject(new WireError('aborted', 'aborted while waiting'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
