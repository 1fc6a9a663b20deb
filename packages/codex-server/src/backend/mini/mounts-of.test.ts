import { expect, test } from 'vitest'
import { mountsOf } from './mounts-of.ts'

test('a server at an address gets its headers from the file, from variables, and its token', () => {
  const web = {
    url: 'http://127.0.0.1:9/mcp',
    bearer_token_env_var: 'TOKEN',
    http_headers: { 'X-Fixed': 'a' },
    env_http_headers: { 'X-Set': 'SET', 'X-Unset': 'UNSET' },
  }
  const variables: Readonly<Record<string, string>> = { TOKEN: 't', SET: 'b' }
  expect(mountsOf({ web, off: { url: 'http://x', enabled: false } }, (name) => variables[name])).toEqual([
    {
      name: 'web',
      required: false,
      server: { kind: 'http', url: web.url, headers: { 'X-Fixed': 'a', 'X-Set': 'b', authorization: 'Bearer t' } },
    },
  ])
  expect(() => mountsOf({ web }, () => undefined)).toThrow('the variable TOKEN is not set')
})
