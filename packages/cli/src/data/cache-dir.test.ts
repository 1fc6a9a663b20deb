import { expect, test } from 'vitest'
import { cacheDirOf } from './cache-dir.ts'

test.each([
  ['PARLEY_CACHE', { PARLEY_CACHE: '/a', PARLEY_CACHE_DIR: '/b', XDG_CACHE_HOME: '/x', HOME: '/h' }, '/a'],
  ['its older name', { PARLEY_CACHE: '', PARLEY_CACHE_DIR: 'b', XDG_CACHE_HOME: '/x', HOME: '/h' }, '/cwd/b'],
  ['the cache folder of the user', { XDG_CACHE_HOME: '/x', HOME: '/h' }, '/x/parley'],
  ['the home folder', { XDG_CACHE_HOME: '', HOME: '/h' }, '/h/.cache/parley'],
  ['the home folder, where the other is no place', { XDG_CACHE_HOME: 'x', HOME: '/h' }, '/h/.cache/parley'],
  ['the data folder, for a user without a home', {}, '/cwd/data/cache'],
])('what can be made again lies in %s', (_, env, folder) => {
  expect(cacheDirOf({ env, cwd: '/cwd' }, 'data')).toBe(folder)
})
