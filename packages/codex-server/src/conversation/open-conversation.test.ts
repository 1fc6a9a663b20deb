import type { EngineEvent } from '@parley/agent'
import { expect, test } from 'vitest'
import { type ScriptedConversation, scriptedConversation } from './fixture/scripted-conversation.ts'
import { OpenConversation, type TurnTaker, type WantedTurn } from './open-conversation.ts'

function opened(): { readonly conversation: OpenConversation; readonly backed: ScriptedConversation } {
  const conversation = new OpenConversation()
  const backed = scriptedConversation('c', conversation.listener)
  conversation.attach(backed, {})
  return { conversation, backed }
}

/** One who writes down what it hears. */
function taker(more: Partial<TurnTaker> = {}): TurnTaker & { readonly heard: string[] } {
  const heard: string[] = []
  return {
    heard,
    event: (event) => void heard.push(event.type === 'warning' ? event.message : event.type),
    approve: () => Promise.resolve('approved'),
    ...more,
  }
}

const wanted = (by: TurnTaker, text: string, more: Partial<WantedTurn> = {}): WantedTurn => ({
  by,
  order: { input: [{ type: 'text', text }] },
  ...more,
})
const warning = (message: string): EngineEvent => ({ type: 'warning', message })
const QUESTION = { id: 'a', call: 'c', reason: null, kind: 'command', argv: ['x'], folder: '/' } as const
const NEVER = new AbortController().signal

test('turns begin one after the other, in the order in which they were wanted', async () => {
  const { conversation, backed } = opened()
  const [one, two] = [taker(), taker()]
  await conversation.take(wanted(one, '1'))
  const second = conversation.take(wanted(two, '2'))
  const third = conversation.take(wanted(one, '3'))
  expect([backed.begun, conversation.waiting]).toEqual([['1'], 2])
  backed.end()
  await second
  expect([backed.begun, conversation.isTurnOf(two)]).toEqual([['1', '2'], true])
  backed.end({ kind: 'failed', code: 'internal', message: 'x' })
  await third
  expect(backed.begun).toEqual(['1', '2', '3'])
})

test('the next turn begins when all of the last one has been told', async () => {
  const { conversation, backed } = opened()
  const told = Promise.withResolvers<void>()
  await conversation.take(wanted(taker({ flushed: () => told.promise }), '1'))
  const second = conversation.take(wanted(taker(), '2'))
  backed.end()
  await Promise.resolve()
  expect([backed.begun, conversation.isSpeaking]).toEqual([['1'], true])
  told.resolve()
  await second
  expect(backed.begun).toEqual(['1', '2'])
})

test('whoever listens hears all turns, whoever speaks hears its own; each hears an event once', async () => {
  const { conversation, backed } = opened()
  const [method, tool] = [taker(), taker({ approve: () => Promise.resolve('abort') })]
  conversation.listen(method)
  await conversation.take(wanted(tool, 'of a tool'))
  backed.tell(warning('a'))
  expect(await conversation.listener.approve(QUESTION, NEVER)).toBe('abort')
  const next = conversation.take(wanted(method, 'of a method'))
  backed.end()
  await next
  backed.tell(warning('b'))
  expect(await conversation.listener.approve(QUESTION, NEVER)).toBe('approved')
  backed.end()
  await expect.poll(() => conversation.isSpeaking).toBe(false)
  backed.tell(warning('c'))
  expect([method.heard, tool.heard]).toEqual([['a', 'b', 'c'], ['a']])
  expect(await conversation.listener.approve(QUESTION, NEVER)).toBe('denied')
})

test('what is told before anybody hears it waits for the first who does, up to 64', async () => {
  const conversation = new OpenConversation()
  const backed = scriptedConversation('c', conversation.listener)
  for (let count = 0; count < 100; count += 1) backed.tell(warning(String(count)))
  conversation.attach(backed, {})
  const [first, second] = [taker(), taker()]
  await conversation.take(wanted(first, '1', { begins: () => void first.heard.push('begins') }))
  conversation.listen(second)
  expect([first.heard.length, first.heard[0], first.heard.at(-1), second.heard]).toEqual([65, 'begins', '63', []])
})

test('a turn that waits can be given up, by its own signal and by whoever wants none of one taker', async () => {
  const { conversation, backed } = opened()
  const [one, two] = [taker(), taker()]
  const control = new AbortController()
  await conversation.take(wanted(one, '1', { signal: control.signal }))
  const waiting = ['2', '3'].map((text) => conversation.take(wanted(one, text, { signal: control.signal })))
  const others = ['4', '5'].map((text) => conversation.take(wanted(two, text)))
  control.abort()
  expect(await Promise.all(waiting)).toEqual([undefined, undefined])
  expect(await conversation.take(wanted(one, '6', { signal: control.signal }))).toBeUndefined()
  expect([conversation.drop(one), conversation.drop(two)]).toEqual([0, 2])
  expect(await Promise.all(others)).toEqual([undefined, undefined])
  // The one that has begun goes on.
  expect([backed.begun, conversation.isSpeaking]).toEqual([['1'], true])
})

test('a turn that cannot begin keeps nobody: thrown at once, or told before the next one begins', async () => {
  const { conversation, backed } = opened()
  const one = taker()
  expect(() => conversation.take(wanted(one, 'refused'))).toThrow('refused')
  expect(conversation.isSpeaking).toBe(false)
  await conversation.take(wanted(one, '1'))
  const order: string[] = []
  conversation.take(wanted(one, 'refused')).catch(() => order.push('told'))
  const next = conversation.take(wanted(one, '2', { begins: () => order.push('begins') }))
  backed.end()
  await next
  expect([order, backed.begun]).toEqual([
    ['told', 'begins'],
    ['1', '2'],
  ])
})

test('what is said goes into the turn of whoever says it, unless somebody waits', async () => {
  const { conversation } = opened()
  const [one, two] = [taker(), taker()]
  const said = [{ type: 'text', text: 'and' } as const]
  expect(conversation.steer(one, said)).toBe(false)
  await conversation.take(wanted(one, '1'))
  expect([conversation.steer(one, said), conversation.steer(two, said)]).toEqual([true, false])
  void conversation.take(wanted(two, '2'))
  expect(conversation.steer(one, said)).toBe(false)
})

test('what nobody read is left to whoever spoke, after a turn that was completed and with nobody waiting', async () => {
  const { conversation, backed } = opened()
  let unread = 0
  const one = taker({ unread: () => (unread += 1) })
  backed.hasUnread = true
  await conversation.take(wanted(one, '1'))
  const second = conversation.take(wanted(one, '2'))
  backed.end()
  await second
  backed.end({ kind: 'interrupted' })
  await expect.poll(() => conversation.isSpeaking).toBe(false)
  expect(unread).toBe(0)
  await conversation.take(wanted(one, '3'))
  backed.end()
  await expect.poll(() => unread).toBe(1)
})

test('a closed conversation begins nothing and drops what waits', async () => {
  const { conversation, backed } = opened()
  const one = taker()
  await conversation.take(wanted(one, '1'))
  const waiting = conversation.take(wanted(one, '2'))
  await conversation.close()
  await conversation.close()
  expect([await waiting, backed.isClosed, backed.begun]).toEqual([undefined, true, ['1']])
  expect(() => conversation.take(wanted(one, '3'))).toThrow('conversation c is closed')
})

test('only moves of the list are made', () => {
  const { conversation, backed } = opened()
  expect(() => conversation.attach(backed, {})).toThrow('there is no move from idle to idle')
  expect(() => new OpenConversation().backed).toThrow('the conversation is not open yet')
})

test('events that could not be told keep nobody from the next turn', async () => {
  const { conversation, backed } = opened()
  await conversation.take(wanted(taker({ flushed: () => Promise.reject(new Error('gone')) }), '1'))
  const second = conversation.take(wanted(taker(), '2'))
  backed.end()
  await second
  expect(backed.begun).toEqual(['1', '2'])
})
