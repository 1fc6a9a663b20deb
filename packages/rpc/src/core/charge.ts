import { RpcError } from '@parley/protocol/wire'
import type { Caller } from '../service.ts'

/** Takes the price of one request from its sender, and refuses it to who has nothing left. What a service answers it charges itself. */
export function charge(caller: Caller): void {
  if (caller.meter?.take() === false) throw new RpcError('overloaded', 'too many requests; slow down')
}

/** Takes the price of something that wants no answer. Whoever has nothing left is not read for a while: see `Inbox`. */
export function note(caller: Caller): void {
  caller.meter?.take()
}
