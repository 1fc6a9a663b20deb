import { afterAll, test, expect } from 'vitest'
import { Recorder, engineContract } from '@parley/agent/testing'
import type { PeerName } from '../../../../../../scripts/peers/peer.ts'
import { peerOrSkip } from '../../../../../../scripts/peers/peer-or-skip.ts'
import { type SharedWorld, type SharedWorldOptions, openSharedWorld } from '../../fixture/shared-world.ts'

/** What Codex does otherwise, by the title of the contract's test. */
export const V2_DIFFERS = { 'a refusal fails the turn': 'Codex drops the words of a refusal' }

/** The contract of every engine, and what Codex does otherwise, on one version. */
export async function v2Contract(name: PeerName, more: Pick<SharedWorldOptions, 'serve'> = {}): Promise<void> {
  const peer = await peerOrSkip(name)
  if (peer === undefined) return
  const shared = await openSharedWorld({ peer, differs: V2_DIFFERS, ...more })
  afterAll(() => shared[Symbol.asyncDispose]())
  keepsContract(name, shared)
}

function keepsContract(name: string, shared: SharedWorld): void {
  engineContract(name, shared)

  test(`${name}: a refusal fails the turn, without the words of the model`, async () => {
    await using world = await shared.open()
    world.script('model-one', [{ refuse: 'I would rather not.' }])
    const engine = await world.openEngine()
    const conversation = await engine.open(await world.options('model-one'), new Recorder())
    const turn = conversation.submit({ input: [{ type: 'text', text: 'do it' }] })
    const message = 'the model declined to answer; Codex does not tell its words'
    expect(await turn.ended).toEqual({ kind: 'failed', code: 'model_refusal', message })
  })
}
