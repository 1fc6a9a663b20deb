import { expect, test } from 'vitest'
import { checkPublic, publicLookup } from './public-address.ts'

test('a URL that names an address is refused unless it is public, however it is written', () => {
  for (const host of ['127.1', '0x7f.1', '2130706433', '0', '[::1]', '[::ffff:10.0.0.1]', '169.254.169.254'])
    expect(() => checkPublic(`http://${host}:8080/mcp`)).toThrow('is not a public address')
  for (const host of ['1.1.1.1', '[2606:4700::1111]', 'localhost', 'example.com']) checkPublic(`https://${host}/mcp`)
})

test('a name is refused where one of its addresses is not public, each time that it is looked up', async () => {
  const answers = [['8.8.8.8', '1.1.1.1'], ['8.8.8.8', '10.0.0.1'], ['127.0.0.1'], []]
  const lookup = publicLookup((_name, _options, found) =>
    found(
      null,
      (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
    ),
  )
  const asked = (all: boolean) =>
    new Promise((resolve) => {
      lookup('rebinding.test', { all }, (error, address) => resolve(error?.message ?? address))
    })
  expect(await asked(false)).toBe('8.8.8.8')
  for (const all of [true, false, true]) expect(await asked(all)).toContain('rebinding.test is not a public address')
})

test('a name that nobody knows stays unknown', async () => {
  const failure = Object.assign(new Error('getaddrinfo ENOTFOUND x'), { code: 'ENOTFOUND' })
  const lookup = publicLookup((_name, _options, found) => found(failure, []))
  const told = new Promise((resolve) => {
    lookup('x', {}, resolve)
  })
  expect(await told).toBe(failure)
})
