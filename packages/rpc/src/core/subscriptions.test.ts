import { expect, test } from 'vitest'
import type { Service } from '../service.ts'
import { testWire } from '../fixture/served-wire.ts'
import { Subscriptions } from './subscriptions.ts'

function slowService() {
  const answers: { readonly give: () => void; readonly refuse: () => void }[] = []
  const live = new Set<object>()
  const watch: Service['watch'] = () =>
    new Promise((resolve, reject) => {
      const token = {}
      const give = (): void => {
        live.add(token)
        resolve(() => live.delete(token))
      }
      answers.push({ give, refuse: () => reject(new Error('no')) })
    })
  const service: Service = { info: { name: 'slow', version: '1' }, capabilities: {}, call: () => ({}), watch }
  const sent: string[] = []
  const subscriptions = new Subscriptions({
    service,
    caller: { key: 'me' },
    link: undefined,
    outlet: { send: (text) => sent.push(text) > 0, drained: () => Promise.resolve() },
    text: { updated: (uri) => uri, listChanged: (kind) => kind },
    served: testWire(service),
  })
  return { answers, live, subscriptions, sent }
}

test('subscribing, unsubscribing and subscribing again while the service works leaves one watch', async () => {
  const { answers, live, subscriptions } = slowService()
  const first = subscriptions.watch('a')
  subscriptions.unwatch('a')
  const second = subscriptions.watch('a')
  answers[0]?.give()
  answers[1]?.give()
  await Promise.all([first, second])
  expect(live.size).toBe(1)
  subscriptions.end()
  expect(live.size).toBe(0)
})

test('whoever asks for the same resource meanwhile gets the same answer', async () => {
  const { answers, subscriptions } = slowService()
  const both = Promise.allSettled([subscriptions.watch('a'), subscriptions.watch('a')])
  answers[0]?.refuse()
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(answers.length).toBe(1)
})

test('nothing is watched after the end', async () => {
  const { answers, live, subscriptions } = slowService()
  const pending = subscriptions.watch('a')
  subscriptions.end()
  answers[0]?.give()
  await pending
  await expect(subscriptions.watch('b')).rejects.toThrow('the session has ended')
  expect(live.size).toBe(0)
})
