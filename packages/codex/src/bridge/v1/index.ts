import * as z from 'zod'
import type { Dialect } from '../dialect.ts'
import { OldTalk } from './old-talk.ts'

const Greeted = z.object({ userAgent: z.string() })

/** The app-server of 0.43 to 0.107: `newConversation`, `sendUserMessage` and events by their type. */
export const olderDialect: Dialect = {
  name: 'v1',
  args: ['app-server'],
  jsonrpc: false,
  greet: async (peer, sink, client) => {
    const { name, version } = client
    const { userAgent } = Greeted.parse(await peer.ask('initialize', { clientInfo: { name, title: name, version } }))
    peer.tell('initialized')
    return new OldTalk({ userAgent, sink, ask: (method, params) => peer.ask(method, params), mountable: 'commands-and-http' })
  },
}
