import { type JsonObject, parseJson } from '@parley/protocol'
import * as z from 'zod'
import type { DoctorCheck } from './doctor-check.ts'

export const MOUNTS_URI = 'compositor://mounts'

const Content = z.object({ contents: z.tuple([z.object({ text: z.string() })]) })
const Mounts = z.object({
  mounts: z.array(z.object({ name: z.string(), state: z.string(), last_error: z.string().nullable() })),
})

/** How the mounts of an agent stand, as its compositor says: `content` is what it answered for them. */
export function mountsCheck(content: JsonObject): DoctorCheck {
  const name = 'mounts'
  const [{ text }] = Content.parse(content).contents
  const { mounts } = Mounts.parse(parseJson(text))
  if (mounts.length === 0)
    return { name, status: 'missing', detail: 'nothing is mounted for this agent', hint: 'parley mount attach --help' }
  const failed = mounts.filter(({ state }) => state === 'failed' || state === 'restarting')
  if (failed.length === 0) return { name, status: 'ok', detail: mounts.map((mount) => `${mount.name} ${mount.state}`).join(', ') }
  return {
    name,
    status: 'failed',
    detail: failed.map((mount) => `${mount.name}: ${mount.last_error ?? mount.state}`).join('; '),
    hint: 'parley mount list AGENT has more, and the log of the host what its programs say',
  }
}
