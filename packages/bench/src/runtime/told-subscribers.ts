import { fileURLToPath } from 'node:url'
import { type Client, connectClient, webSocketTransport } from '@parley/rpc'
import type { Rounds } from '../rounds.ts'
import { median } from '../statistics.ts'
import { NOTE_URI, TOUCH_TOOL } from './note.ts'
import { Runtime } from './open-runtime.ts'

/** The most links that one person may hold is 1,000, and one more is needed to touch the resource: so there are two agents’ owners. */
const SUBSCRIBERS = 1_000
const TOUCHES = 20
const AT_ONCE = 50
const MOUNT = fileURLToPath(new URL('note-mount-main.ts', import.meta.url))

/** From the call that changes a resource of a mount to the news of it at each of a thousand subscribers. */
export async function toldRound(rounds: Rounds): Promise<void> {
  await using open = await Runtime.open()
  await using clients = new AsyncDisposableStack()
  const { token } = await open.agentWith([process.execPath, MOUNT])
  let waiting = 0
  let all = Promise.withResolvers<void>()
  const heard = (): void => {
    waiting -= 1
    if (waiting === 0) all.resolve()
  }
  const dial = async (): Promise<Client> => {
    const transport = webSocketTransport({ url: open.gateway.ws, token })
    const onNotification = (method: string): void => (method === 'notifications/resources/updated' ? heard() : undefined)
    const client = await connectClient(transport, {
      clientInfo: { name: 'bench', version: '1' },
      era: 'legacy',
      onNotification,
    })
    clients.defer(() => client.close())
    await client.request('resources/subscribe', { uri: NOTE_URI })
    return client
  }
  const subscribers: Client[] = []
  while (subscribers.length < SUBSCRIBERS)
    subscribers.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, SUBSCRIBERS - subscribers.length) }, dial))))
  const [first] = subscribers
  if (first === undefined) throw new Error('nobody subscribed')
  const times: number[] = []
  for (let touch = 0; touch < TOUCHES; touch += 1) {
    all = Promise.withResolvers()
    waiting = SUBSCRIBERS
    const begun = performance.now()
    await Promise.all([first.callToolRaw(TOUCH_TOOL, {}), all.promise])
    times.push(performance.now() - begun)
  }
  rounds.add(`${SUBSCRIBERS} subscribers`, 'all_told', 'ms', median(times))
}
