import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import { startCodexPeer } from '@parley/contracts/testing'
import { openBridge } from './open-bridge.ts'

const OPTIONS = {
  client: { name: 'probe', version: '1' },
  warn: () => undefined,
  now: Date.now,
  random: (bytes: number) => new Uint8Array(bytes),
}

test.for([
  ['codex-0.42', undefined, 'mcp', '0.42.0'],
  ['codex-0.44', undefined, 'v1', '0.44.0'],
  ['codex-0.166', undefined, 'v2', '0.166.0'],
  ['codex-0.166', '0.44.0', 'v2', '0.166.0'],
] as const)('%s that is said to be %s is found to speak %s', async ([name, named, dialect, version], context) => {
  const peer = await peerFor(context, name)
  const path = await mkdtemp(join(tmpdir(), 'codex-probe-'))
  await using made = new AsyncDisposableStack()
  made.defer(() => rm(path, { recursive: true, force: true }))
  await using start = startCodexPeer(peer, { home: { path } })
  const bridge = await openBridge({ ...OPTIONS, start, ...(named === undefined ? {} : { version: named }) })
  expect(bridge).toMatchObject({ dialect, version })
  await bridge.close()
  expect(start.running()).toEqual([])
})
