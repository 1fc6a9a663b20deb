import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { TokenId, UserId, makeId } from './index.ts'

test('an id says what it names and uses five bits of every random byte', () => {
  const bytes = Uint8Array.from({ length: 26 }, (_, index) => index * 8 + 1)
  expect(makeId(UserId, 'usr', () => bytes)).toBe('usr_19hs19hs19hs19hs19hs19hs19')
})

test('ids do not repeat', () => {
  const made = Array.from({ length: 1000 }, () => makeId(TokenId, 'tok', randomBytes))
  expect(new Set(made).size).toBe(1000)
})

test.each([
  ['usr_'],
  ['tok_00000000000000000000000000'],
  ['usr_0000000000000000000000000'],
  ['usr_0000000000000000000000000A'],
  [''],
])('%j is no user id', (text) => {
  expect(UserId.safeParse(text).error?.issues[0]?.message).toBe('must look like usr_ and 26 letters or digits')
})
