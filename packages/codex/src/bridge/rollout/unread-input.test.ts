import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { unreadInput } from './unread-input.ts'

let path: string
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'rollout-')), 'rollout.jsonl')
})
afterEach(() => rm(join(path, '..'), { recursive: true, force: true }))

const input = (...texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }) as const)
const line = (role: string, ...texts: readonly string[]): string =>
  `${JSON.stringify({ type: 'response_item', payload: { type: 'message', role, content: texts.map((text) => ({ text })) } })}\n`
const turn = (own: string) =>
  ({ rolloutPath: path, from: 0, own: input(own), end: { kind: 'completed', message: 'end' } }) as const

test('what was read is what stands in the file, in its order and as often', async () => {
  await writeFile(path, [line('user', 'go'), line('user', 'go'), line('user', 'a', 'b'), line('assistant', 'end')].join(''))
  const added = [input('go'), input('a', 'b'), input('go'), input('a b')]
  expect(await unreadInput(turn('go'), added)).toEqual([input('go'), input('a b')])
})

test('the file is waited for as long as the end of the turn is not in it', async () => {
  await writeFile(path, line('user', 'go'))
  const unread = unreadInput(turn('go'), [input('more'), input('last')])
  await writeFile(path, [line('user', 'go'), line('user', 'more'), line('assistant', 'end')].join(''))
  expect(await unread).toEqual([input('last')])
})

test('a file that is not there has read nothing', async () => {
  const end = { kind: 'failed', code: 'engine_lost', message: 'gone' } as const
  expect(await unreadInput({ ...turn('go'), end }, [input('more')])).toEqual([input('more')])
})
