import { startPostgres } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { agentsOnEngine } from './agents.ts'
import { approvalsOnEngine } from './approvals/approvals-soak.ts'
import { chatOnEngine } from './chat/chat-soak.ts'
import { engineOnSqlite } from './engine.ts'
import { executorSoak } from './executor.ts'
import { killOnEngine } from './kill.ts'
import { malformedSoak } from './malformed.ts'
import { sessionsSoak } from './sessions.ts'
import { SOAK_SIDES } from '../soak.ts'

const QUIET = (): void => undefined
const SEED = 20_261_116
const MESSAGES = { timeout: 120_000 }
const KILLS = { timeout: 300_000 }
test('sessions that subscribe and go leave nothing behind, and nobody waits for a stuck one', MESSAGES, async () => {
  const { counts, problems } = await sessionsSoak.run({ seed: SEED, share: 0.05, log: QUIET })
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ 'sessions opened': 500, 'sessions dropped': 500 })
})

test('malformed messages on every wire are answered or closed, and good ones still work', MESSAGES, async () => {
  const { counts, problems } = await malformedSoak.run({ seed: SEED, share: 0.02, log: QUIET })
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ 'websocket sent': 2_000, 'stdio sent': 2_000 })
})

test('a remote process loses no byte under every kind of fault, or says where it ends', KILLS, async () => {
  const { counts, problems } = await executorSoak.run({ seed: SEED, share: 0.1, log: QUIET })
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ 'rounds: cut': expect.any(Number), 'rounds: executor killed': expect.any(Number) })
})

// These mostly wait, for programs to start again and for leases to end: side by side they take a third of the time.
test.concurrent('what was acknowledged before kill -9 is there once, on SQLite', KILLS, async () => {
  const { counts, problems } = await killOnEngine('sqlite', undefined, { seed: SEED, share: 0.06, log: QUIET })
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ 'sqlite kills': 3, 'sqlite found': counts['sqlite acknowledged'] })
})

test.concurrent('what was acknowledged before kill -9 is there once, on PostgreSQL', KILLS, async () => {
  await using postgres = await startPostgres()
  const { counts, problems } = await killOnEngine('postgres', postgres.url, { seed: SEED, share: 0.06, log: QUIET })
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ 'postgres kills': 3, 'postgres found': counts['postgres acknowledged'] })
})

test.concurrent(
  'jobs with a model end once while judge, gateway and model are killed, and every token counts once',
  KILLS,
  async () => {
    const { counts, problems } = await engineOnSqlite({ seed: SEED, share: 0.1, log: QUIET })
    expect(problems).toEqual([])
    expect(counts).toMatchObject({ succeeded: counts['jobs handed in'] })
  },
)

const AGENTS = { seed: SEED, share: 0.2, rounds: 4, log: QUIET }

test.concurrent(
  'agents go on while gateway, host and mounts are killed, and no call has two effects, on SQLite',
  KILLS,
  async () => {
    const { counts, problems } = await agentsOnEngine(undefined, AGENTS)
    expect(problems).toEqual([])
    expect(counts).toMatchObject({ 'sqlite kills: host': expect.any(Number), 'calls: success': expect.any(Number) })
  },
)

test.concurrent('agents go on while either gateway, either host and the database are killed, on PostgreSQL', KILLS, async () => {
  await using postgres = await startPostgres()
  const { counts, problems } = await agentsOnEngine(postgres, AGENTS)
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ 'postgres kills: database': expect.any(Number), 'calls: success': expect.any(Number) })
})

test.concurrent(
  'people decide while gateway, host and mounts are killed: nothing is sent without a yes, and nothing twice, on SQLite',
  KILLS,
  async () => {
    const { counts, problems } = await approvalsOnEngine(undefined, AGENTS)
    expect(problems).toEqual([])
    expect(counts).toMatchObject({ 'sqlite kills: host': expect.any(Number), 'heard: result': expect.any(Number) })
  },
)

test.concurrent('people decide while either gateway, either host and the database are killed, on PostgreSQL', KILLS, async () => {
  await using postgres = await startPostgres()
  const { counts, problems } = await approvalsOnEngine(postgres, AGENTS)
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ 'postgres kills: database': expect.any(Number), 'heard: result': expect.any(Number) })
})

test.concurrent.each(SOAK_SIDES)(
  'people talk with an agent while gateway, host and readers are killed: all of it once and in order, a %s agent on SQLite',
  KILLS,
  async (side) => {
    const { counts, problems } = await chatOnEngine(undefined, { ...AGENTS, side })
    expect(problems).toEqual([])
    expect(counts).toMatchObject({ 'sqlite kills: gateway': expect.any(Number), 'lives of readers': expect.any(Number) })
  },
)

test.concurrent.each(SOAK_SIDES)(
  'the same with a %s agent while either gateway, either host and the database are killed, on PostgreSQL',
  KILLS,
  async (side) => {
    await using postgres = await startPostgres()
    const { counts, problems } = await chatOnEngine(postgres, { ...AGENTS, side })
    expect(problems).toEqual([])
    expect(counts).toMatchObject({ 'postgres kills: database': expect.any(Number), 'lives of readers': expect.any(Number) })
  },
)
