import { AgentId } from '@parley/protocol'
import { callsLog } from '@parley/store'
import { execute } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataDirAt } from '../../data/data-dir.ts'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
let gateway: LocalGateway
beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

test('audit verify says what it proved, names what is wrong, and ends with 1 then', async () => {
  const none = await run(['audit', 'verify', ...at])
  expect(none).toMatchObject({ code: 0, out: '0 lines of 0 agents are as written.\n', err: '' })
  const id = AgentId.parse((await json(['agent', 'create', 'mine', ...at])).agent_id)
  await json(['agent', 'create', 'other', ...at])
  // As an earlier version wrote it: not chained.
  await gateway.store.logs.append(callsLog(id), [Buffer.from('{"n":1}\n')])
  const old = await run(['audit', 'verify', 'mine', ...at])
  expect(old).toMatchObject({
    code: 0,
    out: '0 lines of 1 agent are as written. Nothing is proved of 1 line from before there were chains.\n',
  })
  expect(await json(['audit', 'verify', ...at])).toEqual({
    agents: 2,
    lines: 0,
    not_chained: 1,
    since: null,
    faults: [],
    complete: true,
  })
  await execute(`sqlite:${dataDirAt('/', scratch.data).database}`, 'UPDATE logs SET chain_head = $1', [Buffer.from('forged')])
  const wrong = await run(['audit', 'verify', 'mine', ...at])
  expect(wrong.code).toBe(1)
  expect(wrong.out).toMatch(/^agent +offset +what .*\nmine +0 +head .*not sealed by this installation/)
  expect(wrong.out).toContain('found.')
  const told = await run(['audit', 'verify', '--json', ...at])
  expect(told.code).toBe(1)
  expect(JSON.parse(told.out)).toMatchObject({
    faults: expect.arrayContaining([expect.objectContaining({ agent_id: id, kind: 'head' })]),
  })
  expect(await run(['audit', 'verify', 'nobody', ...at])).toMatchObject({
    code: 1,
    err: expect.stringContaining('no agent called'),
  })
})
