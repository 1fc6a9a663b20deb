import type { AdmittedCall, History } from '../history.ts'
import { type CallItem, outputItem } from '../item.ts'
import type { ConversationLog } from '../transcript/conversation-log.ts'
import type { CallWorld } from './call-world.ts'
import { type CallOutput, madeUp, runCall } from './run-call.ts'

interface Taking {
  readonly history: History
  readonly log: ConversationLog
}

/** Makes the calls of one answer, some side by side. Those of a stopped turn may be left without an output. */
export async function runCalls(
  calls: readonly AdmittedCall[],
  { world, history, atOnce }: { readonly world: CallWorld; readonly history: History; readonly atOnce: number },
): Promise<void> {
  const { log, stopper } = world
  let next = 0
  let unfinished = calls.length
  const work = async (): Promise<void> => {
    while (stopper.end === undefined) {
      const admitted = calls[next]
      if (admitted === undefined) return
      next += 1
      await one(admitted)
      unfinished -= 1
      // A finished call should survive the process while others still run; after the last one somebody flushes anyway.
      if (unfinished > 0) log.startFlush()
    }
  }
  const one = async ({ call, repeated }: AdmittedCall): Promise<void> => {
    try {
      const output = repeated ? REPEATED : await runCall(call, world)
      if (output !== undefined) takeOutput(call, output, { history, log })
    } catch (error) {
      // A fault of our own. The others must have ended before the turn does.
      stopper.stop({ kind: 'failed', code: 'internal', message: String(error) })
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, calls.length) }, work))
  if (stopper.isLeaving) return
  for (const { call } of calls.slice(next)) takeOutput(call, NOT_BEGUN, { history, log })
}

const NOT_BEGUN = madeUp('The call was not made: the turn was stopped before.')
const REPEATED = madeUp('This call was made and answered before; it is not made again. Its output stands above.')

/** Gives every call that has no output, and is not to stay open, one that says why. */
export function settleOpenCalls({ history, log }: Taking, why: string, staysOpen: (call: string) => boolean = () => false): void {
  for (const call of history.open) if (!staysOpen(call.id)) takeOutput(call, madeUp(why), { history, log })
}

function takeOutput(call: CallItem, output: CallOutput, { history, log }: Taking): void {
  const item = outputItem(call, output.parts)
  history.addOutput(log.add({ type: 'output', item, made_up: output.madeUp }), item)
}
