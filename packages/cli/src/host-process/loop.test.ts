import { test } from 'vitest'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import { codexUse } from '../fixture/codex-use.ts'
import { type LoopEngine, loopFlow, loopKills, loopRefusals } from '../fixture/loop-flow.ts'
import { say, TurnBench, use } from '../fixture/turn-bench.ts'

/** Real servers, a real Codex in its box, and a crowded machine. */
const SLOW = { timeout: 300_000 }
const peer = await peerOrSkip('codex-0.166')
const MINI: LoopEngine = { hostOptions: [], settings: {}, use, lastWords: [] }
const codex: LoopEngine = {
  hostOptions: ['--codex', peer?.bin('codex') ?? ''],
  settings: { engine: 'codex' },
  use: codexUse,
  lastWords: [say('I rest.')],
}

test(
  'fault 16: an agent that yields is woken by chat, a real resource, a timer and a call that ended, never by an approval',
  SLOW,
  async (context) => {
    await using bench = await TurnBench.open()
    await loopFlow(context, bench, MINI)
  },
)

test('fault 18: kill -9 of a host after a notice was read: it is not read again; before: it is', SLOW, async () => {
  await using bench = await TurnBench.open()
  await loopKills(bench, MINI)
})

test.skipIf(peer === undefined)(
  'fault 16: a real Codex that yields is woken by the same, and by no more',
  SLOW,
  async (context) => {
    await using bench = await TurnBench.open()
    await loopFlow(context, bench, codex)
  },
)

test.skipIf(peer === undefined)('a real Codex that has yielded calls nothing more, in the background either', SLOW, async () => {
  await using bench = await TurnBench.open()
  await loopRefusals(bench, codex)
})

test.skipIf(peer === undefined)(
  'fault 18: kill -9 of the host of a real Codex after a notice was read, and before',
  SLOW,
  async () => {
    await using bench = await TurnBench.open()
    await loopKills(bench, codex)
  },
)
