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

test('a command runs in the environment that its own entry names, with what the entry gives it and no variable from here', () => {
  const far = { command: 'node', env: { A: 'b' }, cwd: '/there', environment_id: 'box' }
  const variables = (): string => 'from here'
  expect(mountsOf({ far }, variables)).toEqual([
    {
      name: 'far',
      required: false,
      server: { kind: 'stdio', command: 'node', args: [], env: { A: 'b' }, environment: 'box', folder: '/there' },
    },
  ])
  expect(mountsOf({ near: { ...far, environment_id: 'local' } }, variables)[0]?.server).not.toHaveProperty('environment')
  for (const wrong of [
    () => mountsOf({ far }, variables, new Set(['far'])),
    () => mountsOf({ web: { url: 'http://x', environment_id: 'box' } }, variables),
  ])
    expect(wrong).toThrow('environment_id: only commands of your own configuration')
})
