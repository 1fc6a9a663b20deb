import { type JobId } from '@parley/protocol'
import { type LeaseFence, type Store, jobLog } from '@parley/store'

import { appendTo } from './append.ts'

const NEWLINE = 10

/** A judge that died in the middle of a line left a piece of one: end it, so that the next line is one of its own. */
export async function endBrokenLine(
  store: Pick<Store, 'jobs' | 'logs'>,
  id: JobId,
  log: 'agent_status' | 'cases',
  fence: LeaseFence,
): Promise<void> {
  const name = jobLog(id, log)
  const { offset } = await store.logs.end(name)
  if (offset === 0) return
  const { entries } = await store.logs.read(name, { from: { offset: offset - 1 }, maxBytes: 1 })
  if (entries.at(-1)?.bytes.at(-1) === NEWLINE) return
  await appendTo(store, id, log, [Uint8Array.of(NEWLINE)], { at: { offset }, fence })
}
