import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = dirname(import.meta.dirname)

test('every test that SECURITY.md names for a promise is there', () => {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8')
  const named = [...text.matchAll(/`([a-z-]+\/src\/[^`]+\.test\.ts)`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((path) => !existsSync(join(root, 'packages', path)))).toEqual([])
})
