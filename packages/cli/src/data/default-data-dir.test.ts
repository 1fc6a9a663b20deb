import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defaultDataDir } from './default-data-dir.ts'

test('a clone keeps its data beside itself, an installed program in the folder of its user', () => {
  const home = { HOME: '/home/ann' }
  expect(defaultDataDir(home, '/src/parley')).toBe('/src/parley/.parley')
  const installed = '/usr/lib/node_modules/parley-mcp'
  expect(defaultDataDir(home, installed)).toBe('/home/ann/.local/share/parley')
  expect(defaultDataDir({ ...home, XDG_DATA_HOME: '/data' }, installed)).toBe('/data/parley')
  // One of the folder that we are called in would be anybody's.
  expect(defaultDataDir({ ...home, XDG_DATA_HOME: 'data' }, installed)).toBe('/home/ann/.local/share/parley')
  expect(defaultDataDir({ HOME: 'home' }, installed)).toBe(join(homedir(), '.local/share/parley'))
})
