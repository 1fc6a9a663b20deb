import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { settle, settleTurn } from './settle.ts'

let base = ''
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'parley-settle-')))
  mkdirSync(join(base, 'work'))
  mkdirSync(join(base, 'other'))
  symlinkSync('work', join(base, 'link'))
})
afterEach(() => rmSync(base, { recursive: true }))

const context = () => ({
  config: {},
  foreignServers: new Set<string>(),
  folder: base,
  defaultModel: 'm',
  variables: () => undefined,
})

test('a conversation works in what the link to its folder led to when it was opened', () => {
  const settled = settle({ folder: join(base, 'link') }, context())
  expect(settled.options.folder).toBe(join(base, 'work'))
  expect(settleTurn(settled, { input: [], folder: '../link' }).options.folder).toBe(join(base, 'work'))
  expect(settleTurn(settled, { input: [] }).options.folder).toBe(join(base, 'work'))
})

test('one that goes on is refused where a link took the place of its folder, unless it is told where to work', () => {
  const recorded = { messages: [], model: undefined, instructions: undefined, options: { folder: join(base, 'work') } }
  expect(settle({}, { ...context(), recorded }).options.folder).toBe(join(base, 'work'))
  renameSync(join(base, 'work'), join(base, 'away'))
  symlinkSync('other', join(base, 'work'))
  expect(() => settle({}, { ...context(), recorded })).toThrow(`leads to ${join(base, 'other')} by now: name cwd`)
  expect(settle({ folder: join(base, 'away') }, { ...context(), recorded }).options.folder).toBe(join(base, 'away'))
})
