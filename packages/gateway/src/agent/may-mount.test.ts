import { type Grant, ServerSpec, NO_GRANT } from '@parley/protocol'
import { expect, test } from 'vitest'
import { grantedAbove, mountGrantedAbove, mountRefusal } from './may-mount.ts'

const stdio = (more: object): ServerSpec => ServerSpec.parse({ kind: 'stdio', command: 'x', ...more })
const granted = (more: Partial<Grant>): Grant => ({ ...NO_GRANT, ...more })
const at = (executor: string) => stdio({ place: { kind: 'executor', executor } })

test.for<[string, ServerSpec, Grant, string | undefined]>([
  ['a box', stdio({}), NO_GRANT, undefined],
  ['a box with a network', stdio({ network: true }), NO_GRANT, 'server.network'],
  ['a box with a network, granted', stdio({ network: true }), granted({ private_http: true }), undefined],
  ['unboxed grants no network to a box', stdio({ network: true }), granted({ unboxed: true }), 'server.network'],
  ['a URL', ServerSpec.parse({ kind: 'http', url: 'https://example.com/mcp' }), NO_GRANT, undefined],
  ...['127.1', '[::1]', '10.0.0.1', 'localhost'].flatMap((host): [string, ServerSpec, Grant, string | undefined][] => {
    const server = ServerSpec.parse({ kind: 'http', url: `http://${host}:9/mcp` })
    return [
      [`${host}, which is not public`, server, NO_GRANT, 'server.url'],
      [`${host}, granted`, server, granted({ private_http: true }), undefined],
    ]
  }),
  ['a host', stdio({ place: { kind: 'host' } }), NO_GRANT, 'server.place'],
  ['a host, granted', stdio({ place: { kind: 'host' } }), granted({ unboxed: true }), undefined],
  ['an executor', at('box'), NO_GRANT, 'server.place.executor'],
  ['another executor', at('box'), granted({ executors: ['other'] }), 'server.place.executor'],
  ['an executor, granted', at('box'), granted({ executors: ['box'] }), undefined],
  ['an executor with a label, granted', at('box'), granted({ executors: ['gpu=yes'] }), undefined],
  ['another value of a label', at('box'), granted({ executors: ['gpu=no'] }), 'server.place.executor'],
  ['a label that begins like one', at('box'), granted({ executors: ['gpu=ye'] }), 'server.place.executor'],
  ['all executors, granted', at('box'), granted({ executors: ['*'] }), undefined],
  ['an executor is no host', stdio({ place: { kind: 'host' } }), granted({ executors: ['*'] }), 'server.place'],
  ['a box with a network', stdio({ network: true }), NO_GRANT, 'server.network'],
  ['a box with a network, granted', stdio({ network: true }), granted({ private_http: true }), undefined],
  ['a folder', stdio({ folder: '/srv/x' }), NO_GRANT, 'server.folder'],
  ['a folder, granted', stdio({ folder: '/srv/x' }), granted({ folders: ['/srv/x'] }), undefined],
  ['a folder below one', stdio({ folder: '/srv/x/y/' }), granted({ folders: ['/srv/x'] }), undefined],
  ['a folder that begins like one', stdio({ folder: '/srv/xy' }), granted({ folders: ['/srv/x'] }), 'server.folder'],
  ['a folder that climbs out', stdio({ folder: '/srv/x/../y' }), granted({ folders: ['/srv/x'] }), 'server.folder'],
  ['a folder that is no path', stdio({ folder: 'srv/x' }), granted({ folders: ['/'] }), 'server.folder'],
  ['unboxed grants no folder', stdio({ folder: '/srv', place: { kind: 'host' } }), granted({ unboxed: true }), 'server.folder'],
])('%s', ([, server, grant, field]) => {
  expect(mountRefusal(server, grant, [{ key: 'gpu', value: 'yes' }])?.field).toBe(field)
})

test.for<[ServerSpec, string]>([
  [stdio({ place: { kind: 'host' } }), '--unboxed on'],
  [at('box'), '--executor box'],
  [stdio({ network: true }), '--private-http on'],
  [stdio({ folder: '/srv/x' }), '--folder /srv/x'],
  [ServerSpec.parse({ kind: 'http', url: 'http://127.0.0.1/' }), '--private-http on'],
])('a refusal says what an admin types to let it be: %j', ([server, words]) => {
  expect(mountRefusal(server, NO_GRANT)?.reason).toMatch(/ must be granted by an admin \(parley grant set USER --/)
  expect(mountRefusal(server, NO_GRANT)?.reason).toContain(`(parley grant set USER ${words})`)
})

test('of several folders that were granted the outermost is the bound, and none is where no grant is needed', () => {
  const grant = granted({ folders: ['/srv/x/deep', '/srv/x', '/srv/xy', '/other'] })
  expect(['/srv/x/deep/er', '/srv/x', '/srv/../other/', '/srv', 'srv/x'].map((folder) => grantedAbove(folder, grant))).toEqual([
    '/srv/x/',
    '/srv/x/',
    '/other/',
    null,
    null,
  ])
  const inFolder = { folder: '/srv/x/deep' }
  const servers = [stdio({}), stdio(inFolder), stdio({ ...inFolder, place: { kind: 'executor', executor: 'box' } })]
  expect(servers.map((server) => mountGrantedAbove(server, grant))).toEqual([null, '/srv/x/', null])
})
