import { expect, test } from 'vitest'
import { readyEndpoint } from './endpoint.ts'

test.each([
  ['responses', 'https://api.example.com/v1', 'https://api.example.com/v1/responses'],
  ['chat', 'https://api.example.com/v1/', 'https://api.example.com/v1/chat/completions'],
  ['chat', 'https://x.example.com/openai?api-version=1', 'https://x.example.com/openai/chat/completions?api-version=1'],
  ['chat', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080/chat/completions'],
] as const)('%s at %s', (wire, baseUrl, url) => {
  expect(readyEndpoint({ wire, baseUrl, apiKey: null }).url).toBe(url)
})

test('the key is sent and never told, nor are other headers and what the URL holds', () => {
  const endpoint = readyEndpoint({
    wire: 'chat',
    baseUrl: 'https://me:pass-word@x.example.com/v1?token=in-the-query',
    apiKey: 'sk-secret',
    headers: { 'api-key': 'header-secret' },
  })
  expect(endpoint.url).toBe('https://x.example.com/v1/chat/completions?token=in-the-query')
  expect(endpoint.headers).toMatchObject({ authorization: 'Bearer sk-secret', 'api-key': 'header-secret' })
  expect(endpoint.redact('a sk-secret b header-secret c in-the-query d pass-word')).toBe(
    'a [redacted] b [redacted] c [redacted] d [redacted]',
  )
  expect(readyEndpoint({ wire: 'chat', baseUrl: 'http://me:pw@x/', apiKey: null }).headers['authorization']).toBe(
    'Basic bWU6cHc=',
  )
})

test('a key too short to be one does not tear words apart', () => {
  expect(readyEndpoint({ wire: 'chat', baseUrl: 'http://x', apiKey: 'k' }).redact('a key')).toBe('a key')
})

test.each([
  [{ baseUrl: 'nowhere' }, 'endpoint.baseUrl'],
  [{ baseUrl: 'ftp://x' }, 'endpoint.baseUrl'],
  [{ apiKey: 'a\nb-secret' }, 'endpoint.apiKey'],
  [{ headers: { 'x-y': 'a\r\nb' } }, 'x-y'],
])('what could never be sent is refused by name: %j', (wrong, name) => {
  expect(() => readyEndpoint({ wire: 'chat', baseUrl: 'http://x', apiKey: null, ...wrong })).toThrow(name)
})
