import { test } from 'vitest'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import { codexUse } from '../fixture/codex-use.ts'
import { loopFlow, loopKills } from '../fixture/loop-flow.ts'
import { say, TurnBench } from '../fixture/turn-bench.ts'

/** Codex, boxes and a crowded machine. */
const SLOW = { timeout: 300_000 }
const peer = await peerOrSkip('codex-0.166')
const CODEX = {
  hostOptions: ['--codex', peer?.bin('codex') ?? ''],
  settings: { engine: 'codex' },
  use: codexUse,
  lastWords: [say('I rest.')],
} as const

test.skipIf(peer === undefined)(
  'fault 16: a real Codex that yields is woken by its chat, a resource of a real server and a timer, and never by an approval',
  SLOW,
  async (context) => {
    await using bench = await TurnBench.open()
    await loopFlow(context, bench, CODEX)
  },
)

test.skipIf(peer === undefined)(
  'fault 18: kill -9 of the host of a real Codex after a notice was read: it is not read again; before: it is',
  SLOW,
  async () => {
    await using bench = await TurnBench.open()
    await loopKills(bench, CODEX)
  },
)
