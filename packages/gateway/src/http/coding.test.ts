import { expect, test } from 'vitest'
import { codingFor } from './coding.ts'

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br; q=0.8 , gzip; q=0.8', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.000, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0.1', 'br'],
  ['*;q=0', undefined],
  ['identity', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity;q=0, *;q=0.1', 'br'],
  ['zstd, deflate', undefined],
  ['', undefined],
  [undefined, undefined],
  ['br;q=high', undefined],
  ['br;q=1.5, gzip', 'gzip'],
  [', ,gzip,', 'gzip'],
] as const)('Accept-Encoding %j gets %s', (header, coding) => {
  expect(codingFor(header, () => true)).toBe(coding)
})

test('only what is there is given', () => {
  expect(codingFor('br, gzip', (coding) => coding === 'gzip')).toBe('gzip')
  expect(codingFor('br, gzip', () => false)).toBeUndefined()
})
