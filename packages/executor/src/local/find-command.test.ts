import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findCommand } from './find-command.ts'

test('a program is found by its path or on PATH, and never in the folder that is worked in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'find-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'bin'))
  for (const name of ['tool', 'bin/tool']) writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 })
  for (const path of ['', '.', 'bin', ['', 'bin'].join(delimiter)])
    expect(findCommand('tool', folder, path)).toMatchObject({ kind: 'missing', reason: 'ENOENT' })
  expect(findCommand('tool', folder, ['bin', join(folder, 'bin')].join(delimiter))).toEqual({
    kind: 'found',
    path: join(folder, 'bin/tool'),
  })
  expect(findCommand('./tool', folder, '')).toEqual({ kind: 'found', path: join(folder, 'tool') })
})
