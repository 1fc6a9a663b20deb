import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineEvent } from '@parley/agent'
import { isJsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { say } from '../backend/fixture/mini-backend-world.ts'
import type { EventMessage } from '@parley/codex/port'
import type { JsonText } from '@parley/rpc/stdio'
import type { EventTranslator } from '../event/translator.ts'
import { FACTS } from './0.153/facts.ts'
import { EventOutbox } from './event-outbox.ts'
import { openMcpWorld } from './fixture/mcp-world.ts'

/** Says everything in the engine's own words. */
const PLAIN: EventTranslator = {
  configured: () => ({ type: 'configured' }),
  said: () => [],
  translate: (event) => [{ ...JSON.parse(JSON.stringify(event)), type: event.type }],
}

/** An outbox to a reader that takes so many and then none until it is told to. */
function openOutbox(laggingBytes: number) {
  const sent: EventMessage[] = []
  let room = 0
  let ready = Promise.withResolvers<void>()
  let lost = 0
  let later: (messages: readonly EventMessage[]) => void = () => undefined
  const outbox = new EventOutbox({
    threadId: 'thread',
    dialect: FACTS,
    openTranslator: (tellLater) => {
      later = tellLater
      return PLAIN
    },
    laggingBytes,
    lost: () => (lost += 1),
  })
  const notify = (_method: string, { text }: JsonText): boolean => {
    if (room === 0) return false
    room -= 1
    sent.push(JSON.parse(text).msg)
    return true
  }
  const drained = (): Promise<void> => (room > 0 ? Promise.resolve() : ready.promise)
  outbox.begins({ port: { id: 1, notify, drained, isGone: false }, prompt: '', isReply: true })
  const read = (count: number): void => {
    room = count
    ready.resolve()
    ready = Promise.withResolvers()
  }
  return { outbox, later, sent, read, lost: () => lost }
}

const delta = (text: string): EngineEvent => ({ type: 'message_delta', item: 'a', delta: text })
const warning = (message: string): EngineEvent => ({ type: 'warning', message })

test('pieces are put together while the reader lags, and nothing changes places', async () => {
  const { outbox, later, sent, read } = openOutbox(1_000)
  for (const event of [warning('0'), delta('a'), delta('b'), warning('1'), delta('c'), delta('d')]) outbox.event(event)
  later([{ type: 'late', at: 'before what waits untranslated' }])
  expect(sent).toEqual([])
  read(2)
  await Promise.resolve()
  read(100)
  await outbox.flushed()
  expect(sent.map(({ type, delta: text, message }) => text ?? message ?? type)).toEqual(['0', 'late', 'ab', '1', 'cd'])
})

test('past the bound pieces are left out; everything else is kept', async () => {
  const { outbox, sent, read, lost } = openOutbox(10)
  for (let index = 0; index < 1_000; index += 1) outbox.event(delta('xxxx'))
  outbox.event({ type: 'message', item: 'a', text: 'all of it' })
  outbox.event({ type: 'turn_ended', turn: 't', end: { kind: 'completed', message: 'all of it' } })
  read(100)
  await outbox.flushed()
  expect(sent.map(({ type }) => type)).toEqual(['message_delta', 'message_delta', 'message', 'turn_ended'])
  expect(lost()).toBe(1)
})

test('nothing waits for a reader that is gone', async () => {
  const outbox = new EventOutbox({
    threadId: 'thread',
    dialect: FACTS,
    openTranslator: () => PLAIN,
    laggingBytes: 10,
    lost: () => undefined,
  })
  const gone = { id: 1, notify: () => false, drained: () => Promise.resolve(), isGone: true }
  outbox.begins({ port: gone, prompt: '', isReply: true })
  outbox.event(warning('0'))
  await outbox.flushed()
  outbox.event(warning('1'))
  await outbox.flushed()
})

test('a client that reads nothing for a while gets fewer deltas, and all the rest', async () => {
  await using world = await openMcpWorld({ limits: { laggingBytes: 16 * 1024 }, streamBufferBytes: 64 * 1024 })
  const { client, mini } = world
  await client.initialize()
  const text = 'word '.repeat(20_000)
  mini.say({ pieces: [{ text }], manner: { deltaCharacters: 50 } })
  const id = client.startCall('codex', { prompt: 'much' })
  await client.until(() => client.types(id).includes('agent_message_delta') || undefined)
  world.output.pause()
  // The engine does not wait for the client: all that the model says comes while nobody reads.
  await expect.poll(() => transcriptIn(mini.data)).toContain('"type":"turn_ended"')
  expect(world.output.writableLength).toBeLessThan(256 * 1024)
  world.output.resume()
  const { result } = await client.answered(id)
  expect(isJsonObject(result) ? result['structuredContent'] : undefined).toMatchObject({ content: text })
  expect(client.types(id).slice(-4)).toEqual(['agent_message', 'raw_response_completed', 'token_count', 'task_complete'])
  expect(client.types(id).filter((type) => type === 'agent_message_delta').length).toBeLessThan(1_000)
  mini.say(say('next'))
  expect(await client.call('codex', { prompt: 'next' })).toMatchObject({ content: [{ text: 'next' }] })
})

/** What is on the disk of the only conversation. */
async function transcriptIn(data: string): Promise<string> {
  const folder = join(data, 'conversations')
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.jsonl'))
  return readFile(join(folder, name), 'utf8')
}
