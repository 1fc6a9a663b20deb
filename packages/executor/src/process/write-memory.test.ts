import { expect, test } from 'vitest'
import { WriteMemory } from './write-memory.ts'

test('a write is done once for its id, also while it is under way; one that was not accepted may come again', async () => {
  const memory = new WriteMemory()
  let times = 0
  const write = async (): Promise<'accepted'> => {
    times += 1
    return 'accepted'
  }
  expect(await Promise.all([memory.once('a', write), memory.once('a', write)])).toEqual(['accepted', 'accepted'])
  expect(await memory.once('a', write)).toBe('accepted')
  expect(times).toBe(1)
  expect(await memory.once('b', async () => 'starting')).toBe('starting')
  await memory.once('b', write)
  await expect(memory.once('c', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await memory.once('c', write)
  expect(times).toBe(3)
})

test('ids are remembered up to a bound, the oldest goes first', async () => {
  const memory = new WriteMemory()
  let times = 0
  const write = async (): Promise<'accepted'> => {
    times += 1
    return 'accepted'
  }
  for (let at = 0; at < 4_097; at += 1) await memory.once(String(at), write)
  await memory.once('4096', write)
  await memory.once('1', write)
  expect(times).toBe(4_097)
  await memory.once('0', write)
  expect(times).toBe(4_098)
})
