import { CallCancelled, isJsonObject, type JsonObject } from '@parley/protocol/wire'
import { reasonOf } from '../limit/kept-words.ts'
import { CUT_OFF } from '../revision.ts'

/** As rmcp, the SDKs of MCP and our own client say it; Codex says the last, whether its time is up or somebody interrupted it. */
const NOBODY_WAITS = /\btime(?:d |-)?out\b|\bnot answered within\b|\bresponse future dropped\b/i

/**
 * Why a call ends, by what its client said with `notifications/cancelled`. Clients also send that when their own time is up, which is shorter
 * than a person needs: such a one still wants what it asked for, and may come again. So it counts as cut off. A relay tells it of its client.
 */
export function whyCancelled({ reason: said, _meta: meta }: JsonObject): Error {
  if (isJsonObject(meta) && meta[CUT_OFF] === true) return new Error('the caller was cut off')
  const reason = reasonOf(said)
  return NOBODY_WAITS.test(reason) ? new Error(reason) : new CallCancelled(reason)
}
