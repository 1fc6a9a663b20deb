import { test } from 'vitest'
import { loopFlow, loopKills } from '../fixture/loop-flow.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { TurnBench, use } from '../fixture/turn-bench.ts'

const MINI = { hostOptions: [], settings: {}, use, lastWords: [] }

test(
  'fault 16: an agent that yields is woken by its chat, a resource of a real server and a timer, in order, and never by an approval',
  MANY_PROCESSES,
  async (context) => {
    await using bench = await TurnBench.open()
    await loopFlow(context, bench, MINI)
  },
)

test('fault 18: kill -9 of a host after a notice was read: it is not read again; before: it is', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  await loopKills(bench, MINI)
})
