import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { NO_SEALER, maskKey, openSealer } from './seal.ts'

const keyOf = (fill: number) => new Uint8Array(32).fill(fill)
const KEY = 'sk-0123456789abcdefghijklmnop'

test('what is sealed opens again, never looks the same twice, and does not show what it holds', () => {
  const sealer = openSealer(keyOf(1), randomBytes)
  const [first, second] = [sealer.seal('main', KEY), sealer.seal('main', KEY)]
  expect(first).toMatch(/^v1\.[\w-]{16}\.[\w-]+$/)
  expect(first).not.toBe(second)
  expect(Buffer.from(first.split('.')[2] ?? '', 'base64url').includes(KEY)).toBe(false)
  expect([sealer.open('main', first), sealer.open('main', second)]).toEqual([KEY, KEY])
  expect(sealer.open('main', sealer.seal('main', 'ключ 😀'))).toBe('ключ 😀')
})

test('another secret, another name, another version and a changed byte do not open it', () => {
  const sealer = openSealer(keyOf(1), randomBytes)
  const sealed = sealer.seal('main', KEY)
  const [version, iv, body = ''] = sealed.split('.')
  const bytes = Buffer.from(body, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(sealer.open('main', [version, iv, changed.toString('base64url')].join('.'))).toBeUndefined()
  }
  expect(openSealer(keyOf(2), randomBytes).open('main', sealed)).toBeUndefined()
  expect(sealer.open('other', sealed)).toBeUndefined()
  for (const text of ['', 'v1', 'v1..', `v2.${iv}.${body}`, `v1.${iv}.`, `v1.AAAA.${body}`, KEY, `${sealed}x`.slice(0, -3)])
    expect(sealer.open('main', text)).toBeUndefined()
  expect(NO_SEALER.open('main', sealed)).toBeUndefined()
  expect(() => NO_SEALER.seal('main', KEY)).toThrow('running gateway')
})

test.each([
  [KEY, 'sk-0…mnop'],
  ['abcdefghijklmnopqrstuvwx', 'abcd…uvwx'],
  ['abcdefghijkl', 'ab…kl'],
  ['abcdefghi', 'ab…i'],
  ['abc', 'a…'],
  ['ab', '…'],
  ['', '…'],
])('%j is shown as %j', (key, shown) => {
  expect(maskKey(key)).toBe(shown)
})

test('never more than a third of a key is shown', () => {
  for (let length = 1; length <= 60; length += 1) {
    const shown = maskKey('k'.repeat(length)).length - 1
    expect(shown).toBeLessThanOrEqual(Math.min(8, length / 3))
  }
})
