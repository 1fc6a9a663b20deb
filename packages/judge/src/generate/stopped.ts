import { unlessAborted } from '@parley/protocol'

/** The signal came before what was waited for. */
export class Stopped extends Error {
  readonly code = 'stopped'
  constructor() {
    super('stopped')
    this.name = 'Stopped'
  }
}

/** Waits for something, but not beyond the signal. What is left behind may still fail; nobody hears it. */
export function orStopped<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return unlessAborted(promise, signal, () => new Stopped())
}
