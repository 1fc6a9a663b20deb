import { type PassingMap, RpcError } from '@parley/protocol/wire'
import type { RequestId, RequestMessage } from '../message/message.ts'
import type { Caller } from '../service.ts'
import { note } from '../limit/charge.ts'
import { type Envelope, readEnvelope } from './envelope.ts'
import type { ServedWire } from './served-wire.ts'

/** What a modern request of a link says about itself, unless it cannot be served at all; that costs its sender, too. */
export function admitModern<C extends Caller>(
  { served, caller }: { readonly served: ServedWire<C>; readonly caller: C },
  { id, params }: RequestMessage,
  underWay: Pick<PassingMap<RequestId, object>, 'has' | 'size'>,
): Envelope {
  const { callers, limits } = served
  try {
    const envelope = readEnvelope(params)
    if (underWay.has(id)) throw new RpcError('invalid_request', `id ${id} is in use by a request under way`)
    if (underWay.size >= limits.inFlightRequests)
      throw new RpcError('overloaded', `at most ${limits.inFlightRequests} requests at once`)
    if (callers.callsOf(caller) >= limits.callsPerCaller)
      throw new RpcError('overloaded', `at most ${limits.callsPerCaller} requests of one person at once`)
    return envelope
  } catch (error) {
    note(caller)
    throw error
  }
}
