import { type ConversationListener, ConversationUnknown } from '@parley/agent'
import type { OpenOrder } from '@parley/codex/port'
import { expect, test } from 'vitest'
import type { Backend } from '../backend/backend.ts'
import { LazyBackend } from '../backend/lazy-backend.ts'
import { Conversations, TooManyConversations } from './conversations.ts'
import { type ScriptedConversation, scriptedConversation } from './fixture/scripted-conversation.ts'
import type { OpenConversation } from './open-conversation.ts'

/** Conversations over a backend that keeps what was spoken in. */
function open(openMax?: number) {
  const backed = new Map<string, ScriptedConversation>()
  const forgotten: string[] = []
  const resumed: OpenOrder[] = []
  const begin = (id: string, listener: ConversationListener, said: string[]): Promise<ScriptedConversation> => {
    const conversation = scriptedConversation(id, listener, said)
    backed.set(id, conversation)
    return Promise.resolve(conversation)
  }
  const backend: Pick<Backend, 'open' | 'resume'> = {
    open: (_order, listener) => begin(`c${backed.size + 1}`, listener, []),
    resume: (which, order, listener) => {
      resumed.push(order)
      return begin('id' in which ? which.id : (/(c\d+)/.exec(which.path)?.[0] ?? ''), listener, ['said before'])
    },
  }
  const conversations = new Conversations({
    backend: new LazyBackend(() => Promise.resolve(backend as Backend)),
    ...(openMax === undefined ? {} : { openMax }),
    forgotten: (id) => void forgotten.push(id),
  })
  return { conversations, backed, forgotten, resumed }
}

const listener = { event: () => undefined, approve: () => Promise.resolve('denied' as const) }
async function speak(conversation: OpenConversation, backed: ScriptedConversation | undefined): Promise<void> {
  await conversation.take({ by: listener, order: { input: [{ type: 'text', text: 'hi' }] } })
  backed?.end()
  await expect.poll(() => conversation.isSpeaking).toBe(false)
}

test('the least used is closed for one too many, and goes on as it was opened when it is asked for', async () => {
  const { conversations, backed } = open(2)
  const first = await conversations.open({ model: 'of the first' })
  const second = await conversations.open({})
  for (const [id, conversation] of [
    ['c1', first],
    ['c2', second],
  ] as const)
    await speak(conversation, backed.get(id))
  expect(await conversations.find('C1')).toBe(first)
  await conversations.open({})
  expect([backed.get('c1')?.isClosed, backed.get('c2')?.isClosed, conversations.knows('c2')]).toEqual([false, true, true])
  const [again, same] = await Promise.all([conversations.find('c2'), conversations.find('c2')])
  expect([again, first.order.model]).toEqual([same, 'of the first'])
  expect((await conversations.find('c1')).order).toMatchObject({ model: 'of the first' })
})

test('one that speaks, or in which nobody has spoken, is not closed for another', async () => {
  const { conversations } = open(2)
  const busy = await conversations.open({})
  await busy.take({ by: listener, order: { input: [] } })
  const [fresh, refused] = await Promise.allSettled([conversations.open({}), conversations.open({})])
  expect([fresh.status, refused.status]).toEqual(['fulfilled', 'rejected'])
  await expect(conversations.open({})).rejects.toBeInstanceOf(TooManyConversations)
})

test('a thousand are known; the least used of those that are closed is forgotten', async () => {
  const { conversations, backed, forgotten } = open(1)
  for (let count = 1; count <= 1_000; count += 1) await speak(await conversations.open({}), backed.get(`c${count}`))
  expect(forgotten).toEqual([])
  await conversations.find('c1')
  await speak(await conversations.find('c1'), backed.get('c1'))
  await conversations.open({})
  expect([forgotten, conversations.knows('c2'), conversations.knows('c1')]).toEqual([['c2'], false, true])
  await expect(conversations.find('c2')).rejects.toBeInstanceOf(ConversationUnknown)
})

test('one that goes on in another way takes the place of the open one', async () => {
  const { conversations, backed } = open()
  const first = await conversations.open({})
  const was = backed.get('c1')
  const again = await conversations.resume({ path: '/kept/../kept/c1.jsonl' }, { model: 'another' })
  expect([was?.isClosed, again === first, again.order.model]).toEqual([true, false, 'another'])
  expect(await conversations.find('c1')).toBe(again)
  await conversations.close(first)
  expect(conversations.openOne('c1')).toBe(again)
  await conversations.forget('c1')
  expect([conversations.knows('c1'), backed.get('c1')?.isClosed]).toEqual([false, true])
})

test('one that is still being closed is waited for by whoever wakes it', async () => {
  const { conversations, backed, resumed } = open()
  const conversation = await conversations.open({})
  const held = Promise.withResolvers<void>()
  const first = backed.get('c1')
  if (first !== undefined) first.close = () => held.promise
  const closing = conversations.close(conversation)
  const waking = conversations.find('c1')
  await expect(Promise.race([waking, new Promise((resolve) => setImmediate(resolve, 'waits'))])).resolves.toBe('waits')
  expect(resumed).toEqual([])
  held.resolve()
  await closing
  expect([await waking, resumed]).toEqual([conversations.openOne('c1'), [{}]])
})

test('where a conversation turned out to work is not asked for when it wakes: the backend looks at it again', async () => {
  const { conversations, resumed } = open()
  const conversation = await conversations.open({ model: 'm' })
  expect(conversation.order).toEqual({ model: 'm', folder: '/works/in/c1' })
  await conversations.close(conversation)
  await conversations.find('c1')
  expect(resumed).toEqual([{ model: 'm' }])
})
