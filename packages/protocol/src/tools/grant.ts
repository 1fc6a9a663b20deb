import * as z from 'zod'
import { READS, SETS, tool } from '../tool.ts'
import { WorkerName } from '../worker-name.ts'
import { Username } from './user.ts'
import { WorkerLabel } from './worker.ts'

/** What somebody may have run beyond boxes and public addresses. Everything is refused that is not here. */
export const Grant = z.object({
  /** Programs on a host as they are, with all that the host may do. */
  unboxed: z.boolean(),
  /** Folders of hosts that mounts may be given, with all below them. */
  folders: z.array(z.string().startsWith('/').max(1_024)).max(16),
  /** Executors that programs may run on: by name, all with a label (`gpu=yes`), or `*`, which is all. */
  executors: z.array(z.union([WorkerName, WorkerLabel, z.literal('*')])).max(32),
  /** Addresses that are not public, the host’s machine and its network: by URL, and for boxed programs with a network. */
  private_http: z.boolean(),
})
export type Grant = z.infer<typeof Grant>

export const NO_GRANT: Grant = { unboxed: false, folders: [], executors: [], private_http: false }

const HeldGrant = Grant.extend({ username: Username, set_at: z.iso.datetime() })

export const grantSet = tool({
  name: 'grant.set',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Says what a person’s agents may run beyond boxes and public addresses. Left out: stays as it is. Mounts that are no longer allowed end.',
  input: z.strictObject({ username: Username, ...Grant.partial().shape }),
  output: HeldGrant,
  annotations: SETS,
})

export const grantList = tool({
  name: 'grant.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Who was granted what.',
  input: z.strictObject({}),
  output: z.object({ items: z.array(HeldGrant) }),
  annotations: READS,
})
