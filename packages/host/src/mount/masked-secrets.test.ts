import { ServerSpec } from '@parley/protocol'
import { type ClientTransport, connectClient } from '@parley/rpc'
import { expect, test } from 'vitest'
import { maskedError, maskedTransport, maskOf } from './masked-secrets.ts'

const SECRET = 'tök en+/='

test('values of variables, headers, passwords and queries are taken out of what is said, however they are written', () => {
  const stdio = ServerSpec.parse({
    kind: 'stdio',
    command: 'x',
    env: [
      { name: 'KEY', value: 'long-secret' },
      { name: 'PART', value: 'long' },
      { name: 'N', value: '1' },
    ],
  })
  expect(maskOf({ server: stdio })('1 long-secret and longer')).toBe('1 •••• and ••••er')
  const url = `https://me:${encodeURIComponent(SECRET)}@example.com/mcp?key=${encodeURIComponent(SECRET)}&flag`
  const http = ServerSpec.parse({ kind: 'http', url, headers: [{ name: 'Authorization', value: 'Bearer abcdef' }] })
  const mask = maskOf({ server: http })
  expect(mask(`${http.kind} abcdef ${SECRET} ${encodeURIComponent(SECRET)}`)).toBe('http •••• •••• ••••')
  expect(mask(new URL(url).href)).not.toContain('%2B')
})

test('a token in the place of a user is a secret, and a lone % spoils nothing', () => {
  const http = ServerSpec.parse({ kind: 'http', url: 'https://token%2Bone:100%@example.com/mcp' })
  expect(maskOf({ server: http })('token+one token%2Bone 100%')).toBe('•••• •••• ••••')
})

test('a query without a name and a fragment are secrets', () => {
  const http = ServerSpec.parse({ kind: 'http', url: 'https://example.com/mcp?only%2Bsecret#after-it' })
  expect(maskOf({ server: http })('only%2Bsecret only+secret after-it')).toBe('•••• •••• ••••')
})

test('an error stays what it is, also one whose words cannot be set', () => {
  const mask = (text: string): string => text.replaceAll('secret', '••••')
  const error = Object.assign(new TypeError('a secret'), { code: 'x' })
  expect(maskedError(error, mask)).toBe(error)
  expect(error).toMatchObject({ message: 'a ••••', code: 'x' })
  expect(maskedError(new DOMException('a secret', 'AbortError'), mask)).toMatchObject({ message: 'a ••••', name: 'AbortError' })
})

test('what ended or does not answer is told of without secrets, and with what may help', async () => {
  const given: ClientTransport = {
    kind: 'stdio',
    said: () => '; it said last: a secret',
    open: (sink) => {
      sink.ended({ code: undefined, reason: 'a secret' })
      return { kind: 'stdio', send: () => undefined, bufferedBytes: () => 0, close: () => Promise.resolve() }
    },
  }
  const transport = maskedTransport(given, (text) => text.replaceAll('secret', '••••'), '; there is no network')
  await expect(connectClient(transport, { clientInfo: { name: 'test', version: '1' } })).rejects.toThrow(
    'the connection is closed: a ••••; there is no network',
  )
  expect(transport.said?.()).toBe('; it said last: a ••••; there is no network')
})
