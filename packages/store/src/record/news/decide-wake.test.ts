import { type RestRecord, WakeRules } from '@parley/protocol'
import { expect, test } from 'vitest'
import { type Unwoken, decideWake } from './decide-wake.ts'

const NOW = 100_000
const CHAT: Unwoken = { kind: 'chat', subject: '' }
const CALL: Unwoken = { kind: 'call', subject: 'c1' }
const TIMER: Unwoken = { kind: 'timer', subject: 'timer' }
const PAGE: Unwoken = { kind: 'resource', subject: 'demo://page' }
const NO_REST: RestRecord = { wake_on: null, resources: null, at: null, say: null }

const decide = (
  unwoken: readonly Unwoken[],
  { rules = {}, rest, wokenAt = null }: { rules?: object; rest?: Partial<RestRecord>; wokenAt?: number | null } = {},
) =>
  decideWake(unwoken, {
    rules: WakeRules.parse(rules),
    rest: rest === undefined ? undefined : { ...NO_REST, ...rest },
    wokenAt,
    now: NOW,
  })
const wakes = (by: string) => ({ kind: 'wake', by })
const RESTS = { kind: 'rest' }

test('each kind of news wakes, and nothing does not', () => {
  expect(decide([])).toEqual(RESTS)
  expect([[CHAT], [CALL], [TIMER], [PAGE]].map((news) => decide(news))).toEqual(['chat', 'call', 'timer', 'resource'].map(wakes))
})

test('a rule that says no holds for its kind alone, and a timer is the agent’s own', () => {
  expect(decide([CHAT, PAGE], { rules: { chat: false } })).toEqual(wakes('resource'))
  expect(decide([CHAT, CALL], { rules: { chat: false, calls: false } })).toEqual(RESTS)
  expect(decide([PAGE], { rules: { resources: false } })).toEqual(RESTS)
  expect(decide([TIMER], { rules: { chat: false, resources: false, calls: false }, rest: { wake_on: [] } })).toEqual(
    wakes('timer'),
  )
})

test('what an agent waits for narrows its rules and widens none', () => {
  expect(decide([CHAT, PAGE], { rest: { wake_on: ['resources'] } })).toEqual(wakes('resource'))
  expect(decide([CHAT, CALL, PAGE], { rest: { wake_on: [] } })).toEqual(RESTS)
  expect(decide([CHAT], { rules: { chat: false }, rest: { wake_on: ['chat'] } })).toEqual(RESTS)
  expect(decide([PAGE], { rest: { resources: ['demo://other'] } })).toEqual(RESTS)
  expect(decide([PAGE], { rest: { resources: ['demo://page'] } })).toEqual(wakes('resource'))
})

test('resources wake at most so often, and what comes earlier waits for its time', () => {
  expect(decide([PAGE], { wokenAt: NOW - 10_000 })).toEqual(wakes('resource'))
  expect(decide([PAGE], { wokenAt: NOW - 9_999 })).toEqual({ kind: 'later', at: NOW + 1 })
  expect(decide([PAGE], { rules: { every_s: 60 }, wokenAt: NOW })).toEqual({ kind: 'later', at: NOW + 60_000 })
  expect(decide([PAGE, CHAT], { wokenAt: NOW })).toEqual(wakes('chat'))
})
