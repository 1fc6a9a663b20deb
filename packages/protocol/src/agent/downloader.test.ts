import { expect, test } from 'vitest'
import { missingDownload } from './downloader.ts'
import { ServerSpec } from './mount.ts'

const told = (command: string, args: readonly string[] = [], more: object = {}) =>
  missingDownload(ServerSpec.parse({ kind: 'stdio', command, args, ...more }))

test.each([
  [['npx', '-y', 'server'], 'npx'],
  [['/usr/local/bin/uvx', 'server'], 'uvx'],
  [['pipx', 'run', 'server'], 'pipx'],
  [['pnpm', '--silent', 'dlx', 'server'], 'pnpm dlx'],
  [['uv', 'tool', 'run', 'server'], 'uv tool'],
  [['npm', 'exec', 'server'], 'npm exec'],
])('%j downloads what it runs, which a box without a network cannot', ([command = '', ...args], downloader) => {
  expect(told(command, args)).toMatch(new RegExp(`^${downloader} downloads what it runs, and a box has no network: .*--network`))
})

test('what downloads nothing, and what runs where there is a network, is not told of', () => {
  expect([told('npm', ['start']), told('pnpm'), told('toString', ['x']), told('node', ['npx'])]).toEqual(Array(4).fill(undefined))
  expect(told('npx', ['server'], { network: true })).toBeUndefined()
  expect(told('npx', ['server'], { place: { kind: 'host' } })).toBeUndefined()
  expect(missingDownload(ServerSpec.parse({ kind: 'http', url: 'https://example.com/npx' }))).toBeUndefined()
})
