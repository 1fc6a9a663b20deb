import { expect, test } from 'vitest'
import { Mask } from './mask.ts'

const SECRET = 'sk-secret-sk-secreT'

test('a secret is masked wherever it is cut, and everything else passes unchanged', () => {
  const text = `sk-${SECRET} and sk-secret-sk-sec ${SECRET}${SECRET} Grüße sk-secret`
  const expected = text.replaceAll(SECRET, '*'.repeat(SECRET.length))
  const bytes = Buffer.from(text)
  for (let size = 1; size <= bytes.length; size += 1) {
    const mask = new Mask(SECRET)
    const parts: Buffer[] = []
    for (let at = 0; at < bytes.length; at += size) parts.push(mask.push(bytes.subarray(at, at + size)))
    expect(Buffer.concat([...parts, mask.flush()]).toString()).toBe(expected)
  }
  expect(new Mask(SECRET).text(text)).toBe(expected)
  expect(bytes.toString()).toBe(text)
})

test('what cannot be the beginning of the secret does not wait', () => {
  const mask = new Mask(SECRET)
  expect(mask.push(Buffer.from('data: {}\n\n')).toString()).toBe('data: {}\n\n')
  expect(mask.push(Buffer.from('x sk-')).toString()).toBe('x ')
  expect(mask.push(Buffer.from('y')).toString()).toBe('sk-y')
  for (const none of [null, '', 'short']) expect(new Mask(none).push(Buffer.from('short')).toString()).toBe('short')
})
