import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { RecordedLine } from '../registry/registry-types.ts'
import { inFixedOrder } from './fixed-order.ts'
import { normaliser } from './normalise.ts'

const PLACES = { work: '/srv/x/work', home: '/srv/x/home', modelUrl: 'http://127.0.0.1:4711/v1' }
const line = (message: JsonObject): RecordedLine => ({ dir: '<', message })
const event = (requestId: number, type: string): RecordedLine =>
  line({ method: 'codex/event', params: { _meta: { requestId }, msg: { type } } })

test('what belongs to one run alone becomes the same in every run', () => {
  const normal = normaliser(PLACES)
  const id = '01a1e073-7a42-7781-b39d-9d162d789012'
  const other = '01a1e073-7a42-7781-b39d-9d162d789013'
  expect(
    normal(
      line({
        id: 1,
        conversationId: id,
        path: `/srv/x/home/sessions/2026/11/16/rollout-2026-11-16T10-00-00-${id}.jsonl`,
        '/srv/x/work/a.txt': 'at http://127.0.0.1:4711/v1',
        duration: { secs: 3, nanos: 9 },
        exit_code: 3,
        timestamp: '2026-11-16T10:00:00.123Z',
        userAgent: 'codex_cli_rs/0.44.0 (Debian 12.0.0; x86_64) xterm (probe; 1.0)',
        sha: 'a3fcce40a3fcce40a3fcce40a3fcce40a3fcce40',
        authUrl: 'https://auth.openai.com/oauth/authorize?client_id=app_X&state=abc&scope=openid',
        item: 'msg_0123abcd7',
        processId: '4242',
      }),
    ),
  ).toEqual(
    line({
      id: 1,
      conversationId: '00000000-0000-7000-8000-000000000001',
      path: '/HOME/sessions/2026/01/01/rollout-2026-01-01T00-00-00-00000000-0000-7000-8000-000000000001.jsonl',
      '/WORK/a.txt': 'at http://127.0.0.1:1/v1',
      duration: { secs: 0, nanos: 0 },
      exit_code: 3,
      timestamp: '2026-01-01T00:00:00.000Z',
      userAgent: 'codex_cli_rs/0.44.0 (OS) TERMINAL (probe; 1.0)',
      sha: '1'.repeat(40),
      authUrl: 'https://auth.openai.com/oauth/authorize?client_id=SECRET&state=SECRET&scope=openid',
      item: 'msg_1',
      processId: '1',
    }),
  )
  expect(normal(line({ ids: [other, id] }))).toEqual(
    line({ ids: ['00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001'] }),
  )
})

test('what Codex tells the model and an id that a scenario made up are known by sight', () => {
  const normal = normaliser(PLACES)
  const unknown = '00000000-0000-7000-8000-999999999999'
  expect(normal(line({ item: { type: 'message', role: 'developer', content: [{ text: 'a long prompt' }] }, unknown }))).toEqual(
    line({ item: { type: 'message', role: 'developer', content: [{ text: '(what Codex tells the model)' }] }, unknown }),
  )
})

test('calls at once stand one after the other, up to the next line of the client', () => {
  const answer = (id: number): RecordedLine => line({ id, result: {} })
  const sent: RecordedLine = { dir: '>', message: { id: 4, method: 'ping' } }
  const lines = [event(3, 'a'), event(2, 'b'), event(3, 'c'), answer(2), sent, event(3, 'd'), answer(3)]
  expect(inFixedOrder(lines)).toEqual([event(2, 'b'), answer(2), event(3, 'a'), event(3, 'c'), sent, event(3, 'd'), answer(3)])
})

test('token counts beside an aborted turn are left out, others stay', () => {
  const lines = [event(2, 'token_count'), event(2, 'agent_message'), event(2, 'token_count'), event(2, 'turn_aborted')]
  expect(inFixedOrder([...lines, event(2, 'token_count')])).toEqual([
    event(2, 'token_count'),
    event(2, 'agent_message'),
    event(2, 'turn_aborted'),
  ])
})
