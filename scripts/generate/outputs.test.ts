import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { SCHEMA_FOLDER, outputs } from './outputs.ts'

const root = dirname(dirname(import.meta.dirname))
const wanted = outputs(root)

test.each([...wanted.keys()])('%s is what its source says', (path) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(wanted.get(path))
})

test('no schema is left over from a tool that is gone', () => {
  const there = readdirSync(join(root, SCHEMA_FOLDER)).map((name) => `${SCHEMA_FOLDER}/${name}`)
  expect(there.filter((path) => !wanted.has(path))).toEqual([])
})
