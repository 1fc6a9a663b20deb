import { asError } from '@parley/protocol/wire'
/** What a promise brings, unless the signal fires first. `late` gets what comes after that, so that it can be let go of. */
export async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
  late: (value: Value) => void = () => {},
): Promise<Value> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(asError(signal.reason))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([aborted.promise, promise])
  } catch (error) {
    if (signal.aborted) promise.then(late, () => {})
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
