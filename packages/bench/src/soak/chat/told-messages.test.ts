import { expect, test } from 'vitest'
import { messagesIn, ToldMessages } from './told-messages.ts'

const piece = (id: number, text: string): string =>
  `- 2026-01-01T00:00:00.000Z: a person wrote in your chat, as message ${id}, by “ann”:\n  | ${text}`
const notice = (...pieces: string[]) => ({
  type: 'input_text',
  text: ['[parley] New', ...pieces, '[parley] That is all.'].join('\n'),
})
const user = (...content: object[]) => ({ role: 'user', content })

test('what the notices of a request told is read in order, and nothing else', () => {
  const call = '- 2026-01-01T00:00:00.000Z: a call that you made in the background has ended:\n  | cal_1\n  | m_effect returned'
  const input = [
    user(notice(piece(1, 'one'), call, piece(2, 'two')), { type: 'input_text', text: 'do it' }),
    { role: 'assistant', content: [{ type: 'output_text', text: piece(3, 'not told') }] },
    { role: 'user', content: piece(4, 'four') },
  ]
  expect(messagesIn(JSON.parse(JSON.stringify({ input })))).toEqual([
    { id: 1, text: 'one' },
    { id: 2, text: 'two' },
    { id: 4, text: 'four' },
  ])
})

test.each<[string, number[][], RegExp | undefined]>([
  ['each request has more', [[1], [1], [1, 2, 3]], undefined],
  ['one is lost', [[1, 2], [1]], /was told m2 as 2, and a later request has …1 instead/],
  [
    'one is lost between',
    [
      [1, 2],
      [1, 3],
    ],
    /was told m2/,
  ],
  ['one is told twice', [[1, 1]], /m1 as 1 too late/],
  ['one is told after a newer one', [[2, 1]], /m1 as 1 too late/],
])('requests: %s', (_what, requests, words) => {
  const told = new ToldMessages()
  for (const ids of requests) told.add(ids.map((id) => ({ id, text: `m${id}` })))
  expect(told.problems).toEqual(words === undefined ? [] : [expect.stringMatching(words)])
  expect(told.texts).toEqual(requests.at(-1)?.map((id) => `m${id}`))
})
