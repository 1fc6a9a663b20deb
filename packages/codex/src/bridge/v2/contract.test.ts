import { afterAll, expect, test } from 'vitest'
import { Recorder, engineContract } from '@parley/agent/testing'
import { peerOrSkip } from '../../../../../scripts/peers/peer-or-skip.ts'
import { serveCommand } from '../../testing/index.ts'
import { type SharedWorld, openSharedWorld } from '../fixture/shared-world.ts'

const differs = { 'a refusal fails the turn': 'Codex drops the words of a refusal' }

// The HTTP client of 0.153 makes one call at a time to a server that answers without a stream.
for (const { name, more } of [
  { name: 'codex-0.166', more: {} },
  { name: 'codex-0.153', more: { serve: serveCommand } },
] as const) {
  const peer = await peerOrSkip(name)
  const shared = peer === undefined ? undefined : await openSharedWorld({ peer, differs, ...more })
  afterAll(() => shared?.[Symbol.asyncDispose]())
  if (shared !== undefined) keepsContract(name, shared)
}

test('what Codex does otherwise is little', () => {
  expect(Object.keys(differs)).toHaveLength(1)
})

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
