import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenOrder } from '../port/order.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import type { OpenedThread } from './dialect.ts'
import { openWithProfile } from './open-with-profile.ts'

const THREAD: OpenedThread = { id: 't', model: 'm', effort: null, rolloutPath: '/r', initialMessages: [], contextWindow: null }
const TABLE = `
[profiles.x]
model = "of-table"
approval_policy = "on-failure"
[profiles.x.tools]
view_image = false
[profiles.x.mcp_servers."a.b"]
command = "c"
`

/** As versions whose profiles are files answer an order that names one. */
const begin = (order: OpenOrder): Promise<OpenedThread> =>
  order.profile === undefined && order.config?.['profile'] === undefined
    ? Promise.resolve(THREAD)
    : Promise.reject(
        new RemoteFailure(-32_600, 'failed to load configuration: legacy `profile = "x"` config is no longer supported'),
      )

let codexHome: string
beforeAll(async () => {
  codexHome = await mkdtemp(join(tmpdir(), 'profile-'))
  await writeFile(join(codexHome, 'config.toml'), TABLE)
})
afterAll(() => rm(codexHome, { recursive: true, force: true }))

const never = (): Promise<never> => Promise.reject(new TypeError('nobody is asked'))
const taken = async (order: OpenOrder) =>
  (await openWithProfile(order, { codexHome, version: '0.166.0', ask: never }, begin)).order

test('the settings of a profile are sent one by one, and win over single ones', async () => {
  const settings = {
    model: 'of-table',
    approval_policy: 'on-request',
    'tools.view_image': false,
    mcp_servers: { 'a.b': { command: 'c' } },
  }
  expect(await taken({ profile: 'x', folder: '/f' })).toEqual({ folder: '/f', config: settings })
  expect(await taken({ config: { profile: 'x', model: 'set', other: 1 } })).toEqual({ config: { other: 1, ...settings } })
  expect(await taken({ model: 'plain' })).toEqual({ model: 'plain' })
})

test('a file of its own stands before the table, and a name that is no name of a file is looked for in the table alone', async () => {
  await writeFile(join(codexHome, 'own.config.toml'), 'model = "of-file"\nprofile = "x"\n')
  expect(await taken({ profile: 'own' })).toEqual({ config: { model: 'of-file' } })
  await expect(taken({ profile: '../own' })).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'config profile `../own` not found',
    data: { param: 'profile' },
  })
  await expect(taken({ profile: '__proto__' })).rejects.toThrow('not found')
})

test('who does not know where the files are asks Codex', async () => {
  const layers = [
    { name: { type: 'system' }, config: {} },
    { name: { type: 'user', file: '/x' }, config: { profiles: { x: { model: 'of-codex' } } } },
  ]
  const context = { codexHome: undefined, version: '0.166.0', ask: () => Promise.resolve({ layers }) }
  const { order } = await openWithProfile({ profile: 'x' }, context, begin)
  expect(order).toEqual({ config: { model: 'of-codex' } })
})
