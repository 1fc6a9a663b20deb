import { expect, test } from 'vitest'
import { checkHeard, checkKept, checkLives, type KeptMessage, type ReaderLife, type Said } from './check-chat.ts'

const message = (id: number, text = `m${id}`): KeptMessage => ({ id, from: 'person', text })
const KEPT = [message(1), message(2), message(3)]
const said = (id: number, place: number | undefined = id, speaker = 'ann'): Said => ({ speaker, text: `m${id}`, place })
const SAID = [said(1), said(2), said(3)]
const life = (marked: number, ...ids: number[]): ReaderLife => ({ marked, told: ids.map((id) => message(id)) })

function problemsOf(check: (problem: (text: string) => void) => void): readonly string[] {
  const problems: string[] = []
  check((text) => problems.push(text))
  return problems
}
const found = (words: RegExp | undefined): unknown[] => (words === undefined ? [] : [expect.stringMatching(words)])

test.each<[string, KeptMessage[], Said[], RegExp | undefined]>([
  ['all of it', KEPT, SAID, undefined],
  ['one whose answer was lost is there', KEPT, [said(1), { ...said(2), place: undefined }, said(3)], undefined],
  ['one whose answer was lost is not there', KEPT, [...SAID, { ...said(4), place: undefined }], undefined],
  ['one is lost', KEPT, [...SAID, said(4)], /m4 was acknowledged as 4 and is lost/],
  ['one is doubled', [...KEPT, message(4, 'm3')], SAID, /m3 is there 2 times: 3, 4/],
  ['one was said by nobody', [...KEPT, message(4)], SAID, /m4 was said by nobody/],
  ['one is missing between', [message(1), message(3)], [said(1), said(3)], /place 2 has the number 3/],
  [
    'one is elsewhere',
    [message(1), message(2, 'm3'), message(3, 'm2')],
    [said(1), said(2, 3, 'bob'), said(3)],
    /m3 .* as 3 and is 2/,
  ],
  [
    'one came before what was said before',
    [message(1, 'm2'), message(2, 'm1')],
    [said(1, 2), said(2, 1)],
    /m2 is 1, .* ann .* is 2/,
  ],
])('kept: %s', (_what, kept, spoken, words) => {
  expect(problemsOf((problem) => checkKept(kept, spoken, problem))).toEqual(found(words))
})

test.each<[string, ReaderLife[], RegExp | undefined]>([
  ['one life', [life(0, 1, 2, 3)], undefined],
  ['it goes on where it was marked', [life(0, 1, 2), life(2, 3)], undefined],
  ['what was not marked is told again', [life(0, 1, 2), life(1, 2, 3)], undefined],
  ['a life that told nothing', [life(0, 1), life(1), life(1, 2, 3)], undefined],
  ['what was marked is told again', [life(0, 1, 2), life(2, 2, 3)], /begins with 2, which was marked/],
  ['one is left out between lives', [life(0, 1), life(1, 3)], /life 2 begins with 3 after 1/],
  ['one is left out', [life(0, 1, 3)], /was told 3 after 1/],
  ['one is doubled', [life(0, 1, 2, 2, 3)], /was told 2 after 2/],
  ['more is marked than was told', [life(0, 1), life(2, 3)], /is marked as 2 and was told up to 1|begins with 3 after 1/],
  ['another text', [{ marked: 0, told: [message(1, 'm2')] }], /was told m2 as 1, where m1 is/],
])('readers: %s', (_what, lives, words) => {
  const problems = problemsOf((problem) => checkLives({ name: 'r', lives, kept: KEPT }, problem))
  expect(problems.slice(0, 1)).toEqual(found(words))
})

test('readers: how much was told again is counted', () => {
  expect(checkLives({ name: 'r', lives: [life(0, 1, 2, 3), life(1, 2, 3)], kept: KEPT }, () => undefined)).toEqual({
    last: 3,
    again: 2,
  })
})

test.each<[string, string[], RegExp | undefined]>([
  ['all of it', ['m1', 'm2', 'm3'], undefined],
  ['one twice', ['m1', 'm2', 'm2', 'm3'], /told m2 2 times/],
  ['one never', ['m1', 'm3'], /never told m2/],
  ['out of order', ['m2', 'm1', 'm3'], /out of their order/],
  ['what is not there', ['m1', 'm2', 'm3', 'm4'], /told m4, which is not there|order/],
])('the agent: %s', (_what, heard, words) => {
  expect(problemsOf((problem) => checkHeard(heard, KEPT, problem)).slice(0, 1)).toEqual(found(words))
})
