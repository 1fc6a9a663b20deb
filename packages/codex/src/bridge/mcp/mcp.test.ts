import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Recorder } from '@parley/agent/testing'
import { peerOrSkip } from '../../../../../scripts/peers/peer-or-skip.ts'
import { type CodexWorld, openCodexWorld } from '../../testing/index.ts'
import type { Bridge } from '../open-bridge.ts'

const peer = await peerOrSkip('codex-0.42')

describe.skipIf(peer === undefined)('codex mcp of 0.42', () => {
  let world: CodexWorld
  let bridge: Bridge
  beforeAll(async () => {
    if (peer === undefined) return
    world = await openCodexWorld({ peer })
    bridge = await world.openBridge({ limits: { answerMs: 1_500 } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('is chosen by its version', () => {
    expect([bridge.dialect, bridge.version]).toEqual(['mcp', '0.42.0'])
  })

  test('a request that it is silent about ends with a clear error', async () => {
    await expect(bridge.ask('no/such', {})).rejects.toMatchObject({
      name: 'RemoteFailure',
      message: expect.stringContaining('no/such was not answered: Codex 0.42 is silent'),
    })
  })

  test('a server over HTTP is refused with what to do', async () => {
    const { folder } = await world.options('model-one')
    const server = { kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} } as const
    const opening = bridge.open({ folder, mounts: [{ name: 'web', required: true, server }] }, new Recorder())
    await expect(opening).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('0.44 or later') })
  })

  test('a profile that is not there is refused in the words of Codex', async () => {
    const opening = bridge.open({ profile: 'nope' }, new Recorder())
    await expect(opening).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('config profile `nope` not found'),
    })
  })
})
