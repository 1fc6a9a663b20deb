/** Aborted when somebody wants this process to end; the process then ends in its own order. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}
