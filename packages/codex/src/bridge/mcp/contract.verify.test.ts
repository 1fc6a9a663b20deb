import { afterAll, expect, test } from 'vitest'
import { engineContract } from '@parley/agent/testing'
import { peerOrSkip } from '../../../../../scripts/peers/peer-or-skip.ts'
import { OLD_DIFFERS, oldCodexContract } from '../../testing/index.ts'
import { type SharedWorld, openSharedWorld } from '../fixture/shared-world.ts'

const peer = await peerOrSkip('codex-0.42')
const shared = peer === undefined ? undefined : await openSharedWorld({ peer, differs: OLD_DIFFERS })
afterAll(() => shared?.[Symbol.asyncDispose]())
if (shared !== undefined) keepsContract(shared)

test('what this version does otherwise is little', () => {
  expect(Object.keys(OLD_DIFFERS)).toHaveLength(3)
})

function keepsContract(harness: SharedWorld): void {
  engineContract('codex 0.42', harness)
  oldCodexContract('codex 0.42', harness)
}
