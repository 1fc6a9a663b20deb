import { expect, test } from 'vitest'
import { type Moves, Place } from './moves.ts'

const DOOR: Moves<'open' | 'shut' | 'locked'> = { open: ['shut'], shut: ['open', 'locked'], locked: [] }

test('a move that the table does not have is thrown, and leaves everything where it was', () => {
  const place = new Place(DOOR, 'open')
  expect(() => place.to('locked')).toThrow('there is no move from open to locked')
  expect([place.may('shut'), place.may('locked'), place.at]).toEqual([true, false, 'open'])
  place.to('shut')
  place.to('locked')
  expect(() => place.to('open')).toThrow('there is no move from locked to open')
  expect(place.at).toBe('locked')
})
