import type { ExchangeOptions } from '../client/client-options.ts'
import type { Call, ClientView } from '../service.ts'

/** For whom a request to a modern server is made. */
export type OnBehalfOf = NonNullable<ExchangeOptions['onBehalfOf']>

/** Puts it together once for all calls of a session: nothing of it changes but when a client says anew who it is. */
export function oncePerSession(make: (call: Call) => OnBehalfOf): (call: Call) => OnBehalfOf {
  const known = new WeakMap<object, { readonly client: ClientView; readonly made: OnBehalfOf }>()
  return (call) => {
    const { link, client, era } = call
    if (link === undefined || era === 'modern') return make(call)
    const before = known.get(link)
    if (before?.client === client) return before.made
    const made = make(call)
    known.set(link, { client, made })
    return made
  }
}
