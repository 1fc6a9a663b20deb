import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openPasswords } from './password.ts'

test('a password matches its own hash alone, and a hash says how it was made', async () => {
  const passwords = openPasswords(randomBytes)
  const hash = await passwords.hash('correct horse')
  expect(hash).toMatch(/^scrypt\$ln=15,r=8,p=3\$[^$]+\$[^$]+$/)
  expect(await passwords.hash('correct horse')).not.toBe(hash)
  expect(await passwords.matches('correct horse', hash)).toBe(true)
  expect(await passwords.matches('correct Horse', hash)).toBe(false)
  expect(await passwords.matches('', null)).toBe(false)
  expect(await passwords.matches('x', 'not a hash')).toBe(false)
  // Two ways to type the same letter.
  expect(await passwords.matches('\u0065\u0301', await passwords.hash('\u00e9'))).toBe(true)
  // A hash of another cost still works: the cost may be raised later.
  const cheap = 'scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA==$'
  const { scryptSync } = await import('node:crypto')
  const made = scryptSync('old', Buffer.from('saltsaltsaltsalt'), 32, { N: 16, r: 8, p: 1 }).toString('base64')
  expect(await passwords.matches('old', cheap + made)).toBe(true)
})
