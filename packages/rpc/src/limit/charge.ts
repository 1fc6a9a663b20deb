import { RpcError } from '@parley/protocol/wire'
import type { Caller } from '../service.ts'

/** Takes the price of one request from its sender, and refuses it to who has nothing left. What a service answers it charges itself. */
export function charge(caller: Caller): void {
  if (caller.meter?.take() === false) throw new RpcError('overloaded', 'too many requests; slow down')
}

/** For so many bytes of a message its sender pays as for one more. */
const PAID_BYTES = 32 * 1024

/** Takes what the size of a message costs, before anything is done with it. False when its sender has nothing left. */
export function chargeBytes({ meter }: Caller, bytes: number): boolean {
  const price = Math.floor(bytes / PAID_BYTES)
  return price === 0 || meter === undefined || meter.take(price)
}

/** Takes the price of something that wants no answer. Whoever has nothing left is not read for a while: see `Inbox`. */
export function note(caller: Caller): void {
  caller.meter?.take()
}
