import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Recorder, turn } from '@parley/agent/testing'
import { lockPath } from '../../testing/lock-path.ts'
import { connectLinked } from '../fixture/mini-world.ts'
import { entriesOf, openTalk, outputOf } from '../fixture/mini-talk.ts'
import { openFileTranscripts } from './open-file-transcripts.ts'

const ID = 'cnv_00000000000000000000000000'
let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transcripts-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))
const path = (): string => join(folder, `${ID}.jsonl`)
const files = () => openFileTranscripts(folder, { lock: lockPath })

test('what is appended is there for the next one, in order', async () => {
  const transcript = await files().create(ID)
  await transcript.append([{ type: 'a' }, { type: 'b', text: 'zwei\nZeilen ✓' }])
  await transcript.append([{ type: 'c' }])
  await transcript.close()
  const again = await files().open(ID)
  expect(await again?.read()).toEqual([{ type: 'a' }, { type: 'b', text: 'zwei\nZeilen ✓' }, { type: 'c' }])
  await again?.close()
  expect(statSync(path()).mode & 0o777).toBe(0o600)
})

test('a cut last line is dropped wherever it was cut, and the next line stands by itself', async () => {
  const whole = '{"type":"a"}\n'
  const last = '{"type":"b","text":"✓"}\n'
  const bytes = Buffer.from(whole + last)
  for (let length = whole.length; length < bytes.length; length++) {
    writeFileSync(path(), bytes.subarray(0, length))
    const transcript = await files().open(ID)
    expect(await transcript?.read()).toEqual([{ type: 'a' }])
    await transcript?.append([{ type: 'c' }])
    await transcript?.close()
    expect(readFileSync(path(), 'utf8')).toBe(`${whole}{"type":"c"}\n`)
  }
})

test('a line that is broken anywhere else is damage', async () => {
  writeFileSync(path(), '{"type":"a"}\n{"type":\n{"type":"c"}\n')
  const transcript = await files().open(ID)
  await expect(transcript?.read()).rejects.toThrow(expect.objectContaining({ code: 'transcript_damaged' }))
  await transcript?.close()
})

test('there is one writer at a time, and another after it', async () => {
  const transcript = await files().create(ID)
  const locked = expect.objectContaining({ code: 'conversation_locked' })
  await expect(files().open(ID)).rejects.toThrow(locked)
  await transcript.close()
  await transcript.close()
  const next = await files().open(ID)
  expect(next).toBeDefined()
  await next?.close()
})

test('nothing but ids of conversations is looked for', async () => {
  expect(await files().open('../../etc/passwd')).toBeUndefined()
  expect(await files().open(ID)).toBeUndefined()
  await expect(files().create('../x')).rejects.toThrow('cnv_')
})

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const echo = (text: string, id: string) => ({ pieces: [{ call: 'contract_echo', arguments: { text }, id }] })

test('fault 21: the log has every step once, numbered without gaps, over restarts too', async () => {
  await using talk = await openTalk({ answers: [echo('hi', 'c1'), done, done] })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  const { conversation } = await talk.resume()
  expect(await turn(conversation, 'on')).toEqual(COMPLETED)
  const entries = talk.entries()
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  const first = ['opened', 'turn', 'input', 'tools', 'request', 'usage', 'exchange', 'item', 'output']
  const second = ['request', 'usage', 'exchange', 'item', 'turn_ended']
  const third = ['resumed', 'turn', 'input', 'request', 'usage', 'exchange', 'item', 'turn_ended']
  const sorted = (types: readonly string[]) => types.toSorted()
  expect(sorted(entries.map(({ type }) => type))).toEqual(sorted([...first, ...second, ...third]))
  expect(entries[0]).toMatchObject({ type: 'opened', instructions: 'Be brief.', model: 'talker' })
  expect(entries.filter(({ type }) => type === 'turn').map(({ turn: id }) => id)).toEqual(['turn_1', 'turn_2'])
})

test('fault 21: the log grows with the conversation, not with its square', async () => {
  const sizeAfter = async (steps: number): Promise<number> => {
    const answers = Array.from({ length: steps }, (_, index) => echo('x'.repeat(200), `c${index}`))
    await using talk = await openTalk({ answers: [...answers, done] })
    expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
    return statSync(join(talk.world.folder, 'conversations', `${talk.conversation.id}.jsonl`)).size
  }
  const [little, much] = [await sizeAfter(10), await sizeAfter(40)]
  expect((much - little) / 30).toBeLessThan((little / 10) * 1.2)
})

test('no secret of a mount or a channel is in the log', async () => {
  const mounts = [
    {
      name: 'tool',
      required: false,
      server: { kind: 'stdio', command: 'x', args: ['--token', 'SECRET-1'], env: { KEY: 'SECRET-2' } },
    },
    {
      name: 'far',
      required: false,
      server: { kind: 'http', url: 'http://u:SECRET-3@h/?k=SECRET-4', headers: { a: 'SECRET-5' } },
    },
  ] as const
  await using talk = await openTalk({
    answers: [done],
    mini: { connectMount: () => Promise.reject(new Error('no')) },
    options: { mounts },
  })
  await turn(talk.conversation, 'go')
  const text = JSON.stringify(talk.entries())
  expect(text).toContain('"far"')
  expect(text).not.toMatch(/SECRET|"key"/)
})

test('calls that a dead process left without an output get one, and are not made again', async () => {
  await using talk = await openTalk({ answers: [echo('hi', 'c1'), done, done] })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  await talk.engine.close()
  // As if the process had died right before the output was written, in the middle of a line.
  const file = join(talk.world.folder, 'conversations', `${talk.conversation.id}.jsonl`)
  const text = readFileSync(file, 'utf8')
  truncateSync(file, Buffer.byteLength(text.slice(0, text.indexOf('"type":"output"') + 40)))
  const { conversation, recorder } = await talk.resume()
  expect(await turn(conversation, 'on')).toEqual(COMPLETED)
  expect(recorder.all('tool_begin')).toEqual([])
  expect(outputOf(talk.input(-1), 'c1')).toContain('interrupted by a restart')
})

test('a conversation is held by one engine at a time', async () => {
  await using talk = await openTalk({ answers: [done] })
  const other = await talk.world.openEngine({ connectMount: connectLinked })
  const resuming = other.resume(talk.conversation.id, talk.options, new Recorder())
  await expect(resuming).rejects.toThrow(expect.objectContaining({ code: 'conversation_locked' }))
  await talk.engine.close()
  const resumed = await other.resume(talk.conversation.id, talk.options, new Recorder())
  expect(await turn(resumed, 'go')).toEqual(COMPLETED)
})

test('lines of a kind that nobody knows are skipped', async () => {
  await using talk = await openTalk({ answers: [done, done] })
  await turn(talk.conversation, 'go')
  await talk.engine.close()
  const file = join(talk.world.folder, 'conversations', `${talk.conversation.id}.jsonl`)
  appendFileSync(file, '{"type":"from-the-future","seq":99,"more":true}\n')
  const { conversation } = await talk.resume()
  expect(await turn(conversation, 'on')).toEqual(COMPLETED)
  expect(entriesOf(talk.world.folder, conversation.id).some(({ type }) => type === 'from-the-future')).toBe(true)
})
