import { asError } from './thrown.ts'

/** What the promise comes to, or `late` when it takes longer than that. Nobody hears of a failure that comes later. */
export async function within<Value>(promise: Value | Promise<Value>, ms: number, late?: Value): Promise<Value | undefined> {
  const over = Promise.withResolvers<Value | undefined>()
  const timer = setTimeout(() => over.resolve(late), ms)
  try {
    return await Promise.race([promise, over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether it settled in time, well or badly. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = (): boolean => true
  return (await within(promise.then(settled, settled), ms)) === true
}

/** What the promise comes to, unless the signal fires first: then it rejects, with the signal's reason where no other is given. */
export async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  why: () => Error = () => asError(signal?.reason),
): Promise<Value> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(why())
  if (signal?.aborted === true) abort()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
