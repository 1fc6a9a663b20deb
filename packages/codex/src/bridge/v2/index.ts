import type { Dialect } from '../dialect.ts'
import { asObject, textOf } from './fields.ts'
import { CurrentTalk } from './current-talk.ts'

/** The app-server of Codex 0.108 and later: threads, turns and items. */
export const currentDialect: Dialect = {
  name: 'v2',
  args: ['app-server'],
  jsonrpc: false,
  greet: async (peer, sink, { name, version }) => {
    const clientInfo = { name, title: name, version }
    // Conversations are gone on with by their file under this capability alone.
    const capabilities = { experimentalApi: true }
    const answer = asObject(await peer.ask('initialize', { clientInfo, capabilities }))
    peer.tell('initialized')
    // Older versions know the same greeting, and nothing of threads.
    await peer.ask('thread/loaded/list', {})
    return new CurrentTalk(peer, sink, textOf(answer, 'userAgent'))
  },
}
