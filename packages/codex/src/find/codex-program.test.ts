import { chmodSync, mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { codexProgram } from './codex-program.ts'
import { findCodex } from './find-codex.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-find-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function program(path: string, text: string): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}
const native = program(join(folder, 'bin', 'codex'), '\u007fELF')

test('a name is looked for in whole folders, a path from where it is given', () => {
  const bin = join(folder, 'bin')
  expect(findCodex('codex', { searchPath: ['', 'bin', '/nowhere', bin], cwd: folder })).toBe(native)
  expect(findCodex('codex', { searchPath: ['', 'bin'], cwd: folder })).toBeUndefined()
  expect(findCodex('bin/codex', { searchPath: [], cwd: folder })).toBe(native)
  expect(findCodex('./bin', { searchPath: [], cwd: folder })).toBeUndefined()
})

test('what may not be run, and our own program, are passed over', () => {
  const plain = join(folder, 'plain', 'codex')
  mkdirSync(join(folder, 'plain'))
  writeFileSync(plain, '')
  mkdirSync(join(folder, 'own'))
  const own = program(join(folder, 'own', 'parley.js'), '')
  symlinkSync(own, join(folder, 'own', 'codex'))
  const searchPath = ['plain', 'own', 'bin'].map((name) => join(folder, name))
  expect(findCodex('codex', { searchPath, cwd: '/', own })).toBe(native)
  expect(findCodex(plain, { searchPath, cwd: '/' })).toBeUndefined()
})

test('a program is run as it is, and is all that must be seen', () => {
  expect(codexProgram(native)).toEqual({
    path: native,
    argv: [native],
    pathFolders: [],
    readable: [native],
  })
})

test('behind the launcher of the npm package the program itself is found', () => {
  const scope = join(folder, 'npm', 'node_modules', '@openai')
  const launcher = program(join(scope, 'codex', 'bin', 'codex.js'), '#!/usr/bin/env node\n')
  const platform = join(scope, `codex-${process.platform}-${process.arch}`)
  mkdirSync(platform, { recursive: true })
  writeFileSync(join(platform, 'package.json'), '{}')
  const triple = process.arch === 'arm64' ? 'aarch64-unknown-linux-musl' : 'x86_64-unknown-linux-musl'
  const behind = program(join(platform, 'vendor', triple, 'bin', 'codex'), '\u007fELF')
  const link = join(folder, 'npm', 'codex')
  symlinkSync(launcher, link)
  expect(codexProgram(link)).toEqual({
    path: link,
    argv: [behind],
    pathFolders: [join(platform, 'vendor', triple, 'codex-path')],
    readable: [join(platform, 'vendor', triple)],
  })
  rmSync(join(platform, 'vendor'), { recursive: true })
  expect(codexProgram(link).argv).toEqual([process.execPath, launcher])
})
