import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { TYPES_FOLDER } from './contract-types.ts'
import { DOCUMENT_FOLDER, SCHEMA_FOLDER, outputs } from './outputs.ts'

const root = dirname(dirname(import.meta.dirname))
const wanted = outputs(root)

test.each([...wanted.keys()])('%s is what its source says', (path) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(wanted.get(path))
})

test.each([SCHEMA_FOLDER, DOCUMENT_FOLDER, TYPES_FOLDER])('no file in %s is left over from something that is gone', (folder) => {
  const there = readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
  expect(there.filter((path) => !wanted.has(path))).toEqual([])
})
