import { randomBytes } from 'node:crypto'
import { type EngineName, JobId, type Language, UserId, makeId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { type JudgeHere, hindranceOf, waitingOf } from './waiting.ts'
import type { JobNeeds } from './who-fits.ts'

function judge(
  name: string,
  more: {
    languages?: Language[]
    engines?: EngineName[]
    drain?: boolean
    jobs?: number
    slots?: number
    guests?: number
    owners?: UserId[]
  } = {},
): JudgeHere {
  const { languages = ['cpp', 'c', 'python'], engines, drain = false, jobs = 0, slots = 1, guests = 0, owners = [] } = more
  const told = { languages: languages.map((language) => ({ language, version: '1' })), ...(engines && { engines }) }
  return { name, told, drain, jobs, slots, guests, owners }
}
const ann = makeId(UserId, 'usr', randomBytes)
const bob = makeId(UserId, 'usr', randomBytes)
const silent: JudgeHere = { name: 'old', told: null, drain: false, jobs: 0, slots: 1, guests: 0, owners: [] }
const asIs = (language: Language = 'cpp'): JobNeeds => ({ language, model: null, engine: null })
const written = (engine: EngineName | null = null): JobNeeds => ({ language: 'cpp', model: 'm', engine })

test.each<[string, JobNeeds, JudgeHere[], string | null]>([
  ['nobody is there', asIs(), [], 'no_judge: no judge is connected'],
  ['somebody is free', asIs(), [judge('tower')], null],
  ['C++20 is C++', asIs('cpp20'), [judge('tower')], null],
  ['nobody has it', asIs('go'), [judge('tower')], 'no_language: no judge that is here has Go (tower: cpp, c, python)'],
  ['a judge that told nothing has it', asIs('go'), [judge('tower'), silent], null],
  [
    'a judge without any language',
    asIs(),
    [judge('a', { languages: [] }), judge('b', { languages: ['go'] })],
    'no_language: no judge that is here has C++ (a: no language; b: go)',
  ],
  [
    'no more than five are named',
    asIs('rust'),
    Array.from({ length: 7 }, (_, n) => judge(`j${n}`, { languages: ['c'] })),
    'no_language: no judge that is here has Rust (j0: c; j1: c; j2: c; j3: c; j4: c; and 2 more)',
  ],
  ['code that is judged as it is needs no engine', asIs(), [judge('tower', { engines: [] })], null],
  ['a judge that does not say which engines has all', written('codex'), [judge('tower')], null],
  ['any engine will do', written(), [judge('tower', { engines: ['mini'] })], null],
  [
    'the engine is not there',
    written('codex'),
    [judge('tower', { engines: ['mini'] }), judge('attic', { languages: ['go'], engines: ['codex'] })],
    'no_engine: no judge that is here for C++ has the engine codex (tower: mini)',
  ],
  [
    'there is no engine at all',
    written(),
    [judge('tower', { engines: [] })],
    'no_engine: no judge that is here for C++ has an engine to write code with (tower: no engine)',
  ],
  [
    'those that could drain',
    asIs(),
    [judge('tower', { drain: true }), judge('attic', { languages: ['go'] })],
    'draining: every judge that could take it is draining (tower)',
  ],
  [
    'those that could are at work',
    asIs(),
    [judge('tower', { jobs: 2, slots: 2 }), judge('attic', { drain: true })],
    'busy: every judge that could take it is at work (tower: 2 of 2)',
  ],
  ['one of them has a free slot', asIs(), [judge('tower', { jobs: 2, slots: 2 }), judge('attic', { jobs: 1, slots: 2 })], null],
  [
    'the slots are full of jobs of others, and there is a place for a guest',
    asIs(),
    [judge('tower', { jobs: 2, slots: 2, guests: 2, owners: [bob] })],
    null,
  ],
  [
    'one who has a job there is no guest',
    asIs(),
    [judge('tower', { jobs: 3, slots: 2, guests: 2, owners: [bob, ann] })],
    'busy: every judge that could take it is at work (tower: 2 of 2 and 1 guest)',
  ],
  [
    'the places for guests are full',
    asIs(),
    [judge('tower', { jobs: 4, slots: 2, guests: 2, owners: [bob] })],
    'busy: every judge that could take it is at work (tower: 2 of 2 and 2 guests)',
  ],
])('%s', (_name, wanted, judges, expected) => {
  const hindrance = hindranceOf(wanted, ann, judges)
  expect(hindrance === null ? null : `${hindrance.code}: ${hindrance.message}`).toBe(expected)
})

test('only a queued job that nobody holds waits', () => {
  const id = makeId(JobId, 'job', randomBytes)
  const job = { id, status: 'queued', ownerId: ann, spec: asIs() } as const
  expect(waitingOf(job, [], new Set())).toEqual({ code: 'no_judge', message: 'no judge is connected' })
  expect(waitingOf(job, [], new Set([id]))).toBeNull()
  for (const status of ['created', 'running_test', 'succeeded', 'cancelled'] as const)
    expect(waitingOf({ ...job, status }, [], new Set())).toBeNull()
})
