/** The signal came before what was waited for. */
export class Stopped extends Error {
  readonly code = 'stopped'
  constructor() {
    super('stopped')
    this.name = 'Stopped'
  }
}

/** Waits for something, but not beyond the signal. What is left behind may still fail; nobody hears it. */
export async function orStopped<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  promise.catch(() => {})
  const stopped = Promise.withResolvers<never>()
  const stop = (): void => stopped.reject(new Stopped())
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([promise, stopped.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Waits for something at most so long; says whether it came. Its failure is no concern of ours. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const came = promise.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([came, late])
  } finally {
    clearTimeout(timer)
  }
}
