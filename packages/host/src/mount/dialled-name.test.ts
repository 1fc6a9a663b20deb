import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentClaim, type HeldMount, MountSettings, ServerSpec } from '@parley/protocol'
import { connectClient } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { openHostMounts } from './reach-mount.ts'

const claim = AgentClaim.parse({ agent_id: `agt_${'0'.repeat(26)}`, claim_id: '7' })

test('a name is looked up when it is dialled: where it leads to what is not public nothing is connected', async () => {
  const folder = join(tmpdir(), 'parley-not-made')
  const mounts = openHostMounts({
    url: 'http://127.0.0.1:9',
    token: 'x',
    roots: [],
    env: {},
    dataFolder: folder,
    cacheFolder: folder,
    toolchains: () => ({ readable: [], environment: {} }),
    renew: (signIn) => Promise.resolve(signIn),
    now: () => 0,
    log: () => undefined,
  })
  onTestFinished(() => mounts.close())
  const server = ServerSpec.parse({ kind: 'http', url: 'http://localhost:9/mcp' })
  const mount: HeldMount = {
    name: 'web',
    server,
    options: MountSettings.parse({}),
    version: 1,
    sign_in: null,
    refused: null,
    folder_granted: null,
  }
  const agent = { claim, name: 'a', owner: 'ann', privateHttp: false, keep: () => Promise.resolve() }
  const transport = await mounts.reach(agent, mount, new AbortController().signal)
  await expect(connectClient(transport, { clientInfo: { name: 'test', version: '1' } })).rejects.toThrow(
    'localhost is not a public address',
  )
})
