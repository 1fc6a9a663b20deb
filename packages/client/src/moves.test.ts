import { expect, test } from 'vitest'
import { LINK_MOVES, type LinkPlace } from './link-word.ts'
import { Place } from './moves.ts'

test('a move that the table does not have is thrown, and leaves everything where it was', () => {
  const place = new Place<LinkPlace>(LINK_MOVES, 'idle')
  expect(() => place.to('live')).toThrow('there is no move from idle to live')
  place.to('connecting')
  place.to('live')
  expect(() => place.to('waiting')).toThrow('there is no move from live to waiting')
  expect(place.at).toBe('live')
})

test('nothing leads back from the end', () => expect(LINK_MOVES.ended).toEqual([]))
