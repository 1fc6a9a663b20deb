import { chmodSync, chownSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openScratch } from '../testing/scratch.ts'
import { cachePlaces, openCache } from './cache.ts'

test('the cache is what PARLEY_CACHE names, else in the folder of the user, and never only in the clone', () => {
  const own = '/clone/.cache'
  expect(cachePlaces({ PARLEY_CACHE: '/a', XDG_CACHE_HOME: '/x', HOME: '/h' }, '/clone')).toEqual([
    '/a',
    '/x/parley',
    '/h/.cache/parley',
    own,
  ])
  expect(cachePlaces({ HOME: '/h', XDG_CACHE_HOME: '' }, '/clone')).toEqual(['/h/.cache/parley', own])
  expect(cachePlaces({ PARLEY_CACHE: 'beside' }, '/clone')).toEqual(['/clone/beside', own])
  expect(cachePlaces({}, '/clone')).toEqual([own])
})

test('a cache that cannot be written is named, and the next place is used', async () => {
  using scratch = openScratch({ 'in-the-way': '' })
  const [wanted, next] = [join(scratch.root, 'in-the-way'), join(scratch.root, 'own')]
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    expect(await openCache('peers', { places: [wanted, next] })).toBe(join(next, 'peers'))
    expect(said.mock.calls).toEqual([[`cache: ${wanted} cannot be written (ENOTDIR); ${next} is used instead\n`]])
  } finally {
    said.mockRestore()
  }
  expect(existsSync(join(next, 'peers'))).toBe(true)
  const suffices = (folder: string): Promise<boolean> => Promise.resolve(folder === join(wanted, 'peers'))
  expect(await openCache('peers', { places: [wanted, next], suffices })).toBe(join(wanted, 'peers'))
  await expect(openCache('peers', { places: [wanted] })).rejects.toMatchObject({
    code: 'cache_unavailable',
    message: `${wanted} cannot be written (ENOTDIR): set PARLEY_CACHE to a folder that you alone can write`,
  })
})

test('a place where somebody else could put a program is not used, though all is there', async () => {
  using scratch = openScratch({})
  const open = join(scratch.root, 'open')
  mkdirSync(join(open, 'below/peers'), { recursive: true })
  const everything = { places: [join(open, 'below')], suffices: () => Promise.resolve(true) }
  expect(await openCache('peers', everything)).toBe(join(open, 'below/peers'))
  chmodSync(open, 0o777)
  await expect(openCache('peers', everything)).rejects.toThrow(`is not safe (${open} can be written by everybody)`)
  await expect(openCache('peers', { places: [join(open, 'new')] })).rejects.toThrow('can be written by everybody')
  // As the folder for temporary files is.
  chmodSync(open, 0o1777)
  expect(await openCache('peers', everything)).toBe(join(open, 'below/peers'))
})

test.skipIf(process.getuid?.() !== 0)('a place of somebody else is not used', async () => {
  using scratch = openScratch({})
  const theirs = join(scratch.root, 'theirs')
  mkdirSync(theirs)
  chownSync(theirs, 4242, 4242)
  await expect(openCache('peers', { places: [theirs] })).rejects.toThrow(`is not safe (${theirs} belongs to somebody else)`)
})
