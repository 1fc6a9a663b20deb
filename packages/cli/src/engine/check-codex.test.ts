import { chmodSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox } from '@parley/sandbox'
import { afterAll, expect, test } from 'vitest'
import { checkCodex } from './check-codex.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-find-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function program(path: string, text: string): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}
const native = program(join(folder, 'bin', 'codex'), '\u007fELF')
const report = { driver: 'cage', tier: 'landlock', enforced: {}, missing: [] } as const
const never = (): never => {
  throw new Error('no box is opened here')
}
const weak: Sandbox = { report, openBox: never, interact: never }
const strong: Sandbox = { ...weak, start: never }
const plan = (more: object = {}) => ({ engine: 'auto', tools: { searchPath: [join(folder, 'bin')] }, ...more }) as const

test('Codex is offered where there is one and a sandbox that can hold it', () => {
  expect(checkCodex(plan(), strong)).toMatchObject({ kind: 'there', found: { path: native } })
  expect(checkCodex(plan(), weak)).toMatchObject({ kind: 'missing', why: expect.stringContaining('landlock') })
  expect(checkCodex(plan({ tools: { searchPath: [] } }), strong)).toEqual({ kind: 'missing', why: 'there is no codex on PATH' })
  expect(checkCodex(plan({ engine: 'mini' }), strong)).toMatchObject({ kind: 'missing' })
  expect(checkCodex(plan({ codexPath: 'codex-of-mine' }), strong)).toEqual({
    kind: 'missing',
    why: 'there is no codex-of-mine on PATH',
  })
})

test('one that was asked for must be there, and held', () => {
  const wanted = { engine: 'codex' }
  expect(() => checkCodex(plan({ ...wanted, tools: { searchPath: [] } }), strong)).toThrow('there is no codex on PATH')
  expect(() => checkCodex(plan({ ...wanted, codexPath: '/no/codex' }), strong)).toThrow('there is no program at /no/codex')
  expect(() => checkCodex(plan(wanted), weak)).toThrow('a network of its own')
})
