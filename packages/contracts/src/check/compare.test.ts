import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type JsonObject, isJsonObject, parseJson } from '@parley/protocol'
import { serverOf } from '../record/record-scenario.ts'
import { registry } from '../registry/registry.ts'
import { OBSERVED_VERSIONS, type ObservedVersion, RecordedLine } from '../registry/registry-types.ts'
import { TrafficComparison, type Measure } from './compare.ts'
import type { MethodVerdict } from './verdict.ts'

/** The lines of every recording of the 23 methods, by its name. */
function recordings(version: ObservedVersion): ReadonlyMap<string, readonly RecordedLine[]> {
  const folder = join(registry.folder, 'recordings', version)
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl') && !name.startsWith('tool-'))
  return new Map(
    files.map((name) => {
      const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').slice(1)
      return [name.replace('.jsonl', ''), lines.map((line) => RecordedLine.parse(parseJson(line)))]
    }),
  )
}

function compare(
  version: ObservedVersion,
  change: (line: RecordedLine, name: string) => RecordedLine | undefined = (line) => line,
  measure: Measure = 'same',
): { readonly drifted: readonly MethodVerdict[]; readonly envelope: readonly string[] } {
  const comparison = new TrafficComparison(registry, version, measure)
  const { jsonrpc } = serverOf(version, 'methods')
  for (const [name, lines] of recordings(version))
    comparison.add(
      lines.flatMap((line) => change(line, name) ?? []),
      { jsonrpc, isWhole: true },
    )
  return { drifted: comparison.verdicts().filter(({ verdict }) => verdict !== 'ok'), envelope: [...comparison.envelope] }
}

/** Changes the result of every answer to a method. */
function changeResult(method: string, change: (result: JsonObject) => unknown) {
  let open: unknown
  return (line: RecordedLine): RecordedLine => {
    const { message } = line
    if (!isJsonObject(message)) return line
    if (line.dir === '>' && message['method'] !== undefined) open = message['method'] === method ? message['id'] : undefined
    if (line.dir !== '<' || message['id'] !== open || !isJsonObject(message['result'])) return line
    return RecordedLine.parse({ dir: '<', message: { ...message, result: change(message['result']) } })
  }
}

test.each(OBSERVED_VERSIONS)('the recordings of %s are as they were observed', (version) => {
  expect(compare(version)).toEqual({ drifted: [], envelope: [] })
})

test('a field that is new, gone or of another type is drift, named by its method', () => {
  const { drifted } = compare(
    '0.44.0',
    changeResult('newConversation', ({ model: _, ...rest }) => ({ ...rest, colour: 'red', rolloutPath: 5 })),
  )
  expect(drifted).toMatchObject([
    { method: 'newConversation', present: true, request: 'ok', response: 'drift', verdict: 'drift' },
  ])
  expect(drifted[0]?.note).toContain('result.model is missing')
  expect(drifted[0]?.note).toContain('result.colour is not known')
  expect(drifted[0]?.note).toContain('result.rolloutPath must be string')
})

test('an answer that does not come is drift, and so is one that was recorded as silence', () => {
  const gone = compare('0.44.0', (line) => (isAnswerTo(line, 'userAgent') ? undefined : line))
  expect(gone.drifted.map(({ method }) => method)).toContain('getUserAgent')
  expect(gone.drifted.find(({ method }) => method === 'getUserAgent')?.note).toContain('was not answered')
})

test('a method that came back is drift', () => {
  const { drifted } = compare('0.166.0', (line) => {
    const { message } = line
    if (line.dir !== '<' || !isJsonObject(message) || !isJsonObject(message['error'])) return line
    return JSON.stringify(message['error']).includes('newConversation')
      ? { dir: '<', message: { id: message['id'] ?? 0, result: { conversationId: 'x' } } }
      : line
  })
  expect(drifted).toMatchObject([{ method: 'newConversation', present: true, verdict: 'drift' }])
  expect(drifted[0]?.note).toContain('recorded as absent (error -32600), but answers a result')
})

test('an event of another shape, or none at all, is drift of codex/event', () => {
  const event = (change: (params: JsonObject) => JsonObject | undefined) =>
    compare('0.44.0', (line) => {
      const { message } = line
      if (line.dir !== '<' || !isJsonObject(message) || !isEvent(message)) return line
      const params = isJsonObject(message['params']) ? change(message['params']) : undefined
      return params === undefined ? undefined : RecordedLine.parse({ dir: '<', message: { ...message, params } })
    }).drifted
  expect(event(() => undefined)).toMatchObject([{ method: 'codex/event', note: 'never came, though the recordings have it' }])
  const renamed = event((params) => ({ ...params, msg: { type: 'agent_message', text: 'x' } }))
  expect(renamed).toMatchObject([{ method: 'codex/event', verdict: 'drift' }])
})

test('a server in its place may say more in an error, and no other code', () => {
  const worded = (code: number) => (line: RecordedLine) => {
    const { message } = line
    if (line.dir !== '<' || !isJsonObject(message) || !isJsonObject(message['error'])) return line
    const error = { code, message: 'Invalid request: model must be a string' }
    return message['error']['message'] === 'Invalid request' ? { dir: line.dir, message: { ...message, error } } : line
  }
  expect(compare('0.44.0', worded(-32_600), 'same').drifted).not.toEqual([])
  expect(compare('0.44.0', worded(-32_600), 'compatible').drifted).toEqual([])
  expect(compare('0.44.0', worded(-32_000), 'compatible').drifted).not.toEqual([])
})

test('what a server in its place says that it cannot do is told apart from drift', () => {
  let asked: unknown
  const lacking = ({ dir, message }: RecordedLine): RecordedLine => {
    if (!isJsonObject(message)) return { dir, message }
    if (dir === '>' && message['method'] !== undefined) asked = message['method'] === 'loginChatGpt' ? message['id'] : undefined
    if (dir === '>' || asked === undefined || message['id'] !== asked) return { dir, message }
    const error = { code: -32_600, message: 'there is no such sign-in here', data: { code: 'unsupported' } }
    return RecordedLine.parse({ dir, message: { id: asked, error } })
  }
  expect(compare('0.44.0', lacking, 'compatible').drifted).toMatchObject([
    { method: 'loginChatGpt', verdict: 'unsupported', note: expect.stringContaining('there is no such sign-in here') },
  ])
  expect(compare('0.44.0', lacking, 'same').drifted).toMatchObject([{ method: 'loginChatGpt', verdict: 'drift' }])
})

test('an envelope of the other kind is told', () => {
  const { envelope } = compare('0.44.0', ({ dir, message }) =>
    isJsonObject(message) ? RecordedLine.parse({ dir, message: { jsonrpc: '2.0', ...message } }) : undefined,
  )
  expect(envelope).toEqual(['messages carry "jsonrpc", which this version does not send'])
})

const isEvent = ({ method }: JsonObject): boolean => typeof method === 'string' && method.startsWith('codex/event')

function isAnswerTo({ dir, message }: RecordedLine, field: string): boolean {
  return (
    dir === '<' && isJsonObject(message) && isJsonObject(message['result']) && Object.keys(message['result']).join() === field
  )
}
