import { AgentClaim, CallId, type JsonObject, messageOf, ServerSpec, ToolError } from '@parley/protocol'
import { expect, test } from 'vitest'
import { openBackgroundDesk } from './background-desk.ts'
import type { GatewayCall } from './gateway-calls.ts'

const CLAIM = AgentClaim.parse({ agent_id: `agt_${'0'.repeat(26)}`, claim_id: '7' })
const ENGINE = { key: 'engine' }

const withKey = (value: string) => ({
  server: ServerSpec.parse({
    kind: 'stdio',
    command: 'x',
    env: [
      { name: 'KEY', value },
      { name: 'DEBUG', value: 'true' },
    ],
  }),
})

/** A desk whose gateway answers as the test says, with what it was asked. */
function openDesk(answer: (input: JsonObject) => unknown = () => ({})) {
  const asked: JsonObject[] = []
  const call = ((_name: string, input: JsonObject) => {
    asked.push(input)
    return new Promise((resolve) => resolve(answer(input)))
  }) as unknown as GatewayCall
  let mounts = [withKey('hunter2-first')]
  const desk = openBackgroundDesk({
    claim: CLAIM,
    call,
    signal: new AbortController().signal,
    mounts: () => mounts,
    log: () => undefined,
    changed: () => undefined,
    refusal: () => undefined,
  })
  return { desk, asked, attach: (key: string) => (mounts = [withKey(key)]) }
}

const ID = CallId.parse(`cal_${'0'.repeat(26)}`)
const END = { state: 'returned', result: '{}', is_cut: false, is_error: false, message: '' } as const

test('who may begin none is told why, and nothing is written down or held', async () => {
  const asked: string[] = []
  let changes = 0
  const desk = openBackgroundDesk({
    claim: CLAIM,
    call: (name) => Promise.reject(new Error(`${asked.push(name)} asked`)),
    signal: new AbortController().signal,
    mounts: () => [],
    log: () => undefined,
    changed: () => (changes += 1),
    refusal: ({ key }) => (key === 'engine' ? 'this turn is over' : undefined),
  })
  await expect(desk.begin('m_echo', {}, { key: 'engine' })).rejects.toMatchObject({
    code: 'conflict',
    message: 'this turn is over',
  })
  expect([asked, desk.running, changes]).toEqual([[], 0, 0])
  expect(await desk.begin('m_echo', {}, { key: 'client' }).catch(messageOf)).toBe('1 asked')
  expect([asked, desk.running, changes]).toEqual([['host.call_begin'], 0, 1])
})

test('nothing is kept that is a secret of a mount as it is now, and JSON stays JSON', async () => {
  const { desk, asked, attach } = openDesk(() => ({ call: {} }))
  await desk.begin('m_x', { key: 'is hunter2-first', group: 'hunter2-first', isDebug: true }, ENGINE)
  expect(asked).toMatchObject([{ arguments_json: '{"key":"is ••••","group":"••••","isDebug":true}' }])
  attach('a"quoted"one')
  expect(desk.mask('hunter2-first a"quoted"one')).toBe('hunter2-first ••••')
  expect(desk.jsonOf({ isError: true, content: [{ type: 'text', text: 'a"quoted"one' }] })).toBe(
    '{"isError":true,"content":[{"type":"text","text":"••••"}]}',
  )
})

test('an end that the gateway does not take is told as a failure, and not where the agent is lost', async () => {
  const refusing = (code: 'invalid_argument' | 'lease_lost') =>
    openDesk(({ end }) => {
      if (end === END) throw new ToolError(code, 'not that')
      return {}
    })
  const { desk, asked } = refusing('invalid_argument')
  await desk.end(ID, END)
  expect(asked).toMatchObject([{ end: END }, { call_id: ID, end: { state: 'failed', result: null, is_error: true } }])
  const lost = refusing('lease_lost')
  await expect(lost.desk.end(ID, END)).rejects.toThrow('not that')
  expect(lost.asked).toHaveLength(1)
})
