import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readRolloutLines, writeRolloutLines } from './rollout-lines.ts'

const ID = '01a1e3d4-e3e6-75b1-a293-6e6f55a41a91'
const NAME = `2026/11/16/rollout-2026-11-16T10-09-02-${ID}.jsonl`
let home: string
let path: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'parley-rollout-'))
  path = join(home, 'sessions', NAME)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(join(home, 'secret'), 'secret\n')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

test('whole lines are read from where the last reading stood', () => {
  writeFileSync(path, '{"a":1}\n{"b":"ä"}\n{"half')
  const first = readRolloutLines(home, ID, 0)
  expect(first).toEqual({ name: NAME, lines: ['{"a":1}', '{"b":"ä"}'], nextByte: 19 })
  writeFileSync(path, '{"a":1}\n{"b":"ä"}\n{"half":2}\n')
  expect(readRolloutLines(home, ID, 19)).toEqual({ name: NAME, lines: ['{"half":2}'], nextByte: 30 })
})

test('what was carried is put back, and read from there', () => {
  rmSync(join(home, 'sessions'), { recursive: true })
  expect(writeRolloutLines(home, NAME, ['{"a":1}', '{"b":2}'])).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"b":2}\n')
  expect(readRolloutLines(home, ID, 0)?.lines).toEqual(['{"a":1}', '{"b":2}'])
})

test('a name that is not one of Codex is not written', () => {
  for (const name of [`../../${NAME}`, '/etc/x.jsonl', `2026/11/16/../../../${ID}.jsonl`, '2026/11/16/other.jsonl'])
    expect(writeRolloutLines(home, name, ['{}'])).toBe(false)
})

test.each(['the file', 'a folder', 'the first folder'])('a link is not followed: %s', (which) => {
  writeFileSync(path, '{"a":1}\n')
  const linked = { 'the file': path, 'a folder': join(path, '..', '..'), 'the first folder': join(home, 'sessions') }[which] ?? ''
  const moved = join(home, 'moved')
  renameSync(linked, moved)
  symlinkSync(which === 'the file' ? join(home, 'secret') : moved, linked)
  expect(readRolloutLines(home, ID, 0)).toBeUndefined()
})

test('a pipe is not waited for, and a file that became shorter is not read', () => {
  writeFileSync(path, '{"a":1}\n')
  expect(readRolloutLines(home, ID, 9)).toBeUndefined()
  rmSync(path)
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', path])
  expect(readRolloutLines(home, ID, 0)).toBeUndefined()
})
