import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AskedEngine, chooseEngine } from './choose-engine.ts'

let folder: string
const at = (name: string): string => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'choose-engine-'))
  for (const name of ['own', 'empty', 'real', 'plain']) mkdirSync(at(name))
  symlinkSync(fileURLToPath(new URL('../../../../bin/parley.js', import.meta.url)), at('own/codex'))
  for (const name of ['real/codex', 'real/other', 'plain/codex']) writeFileSync(at(name), '#!/bin/sh\n')
  for (const name of ['real/codex', 'real/other']) chmodSync(at(name), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const choose = (more: Partial<AskedEngine>, path: readonly string[]) =>
  chooseEngine({
    engine: undefined,
    codex: undefined,
    cwd: folder,
    ...more,
    env: { PATH: path.map(at).join(':'), ...more.env },
  })

test('the first program of that name counts, but never ourselves', () => {
  const path = at('real/codex')
  expect(choose({}, ['empty', 'plain', 'own', 'real'])).toEqual({ engine: 'codex', path, why: `${path} is on PATH` })
  expect(choose({}, ['own', 'plain'])).toEqual({ engine: 'mini', why: 'there is no codex on PATH' })
  expect(() => choose({ engine: 'codex' }, ['own'])).toThrow('there is no codex on PATH')
  expect(() => choose({ codex: 'own/codex' }, [])).toThrow('--codex: own/codex is no program')
})

test('what is named wins over what is found, the line over the environment', () => {
  expect(choose({ env: { PARLEY_CODEX: 'real/codex' } }, [])).toMatchObject({
    path: at('real/codex'),
    why: /^PARLEY_CODEX names /,
  })
  expect(choose({ codex: 'other', env: { PARLEY_CODEX: 'x' } }, ['real'])).toMatchObject({
    path: at('real/other'),
    why: /^--codex names /,
  })
  expect(choose({ engine: 'mini', env: { PARLEY_CODEX: 'x' } }, ['real'])).toEqual({ engine: 'mini', why: '--engine mini' })
  expect(() => choose({ env: { PARLEY_CODEX: 'nope' } }, ['real'])).toThrow('PARLEY_CODEX: nope is no program')
})

test('what lies in the folder that we are called in is not taken for a program on PATH', () => {
  for (const PATH of ['real', '', '.', './real'])
    expect(choose({ cwd: at('real'), env: { PATH } }, [])).toEqual({ engine: 'mini', why: 'there is no codex on PATH' })
})
