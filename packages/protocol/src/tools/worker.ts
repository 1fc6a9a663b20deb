import * as z from 'zod'
import { READS, SETS, tool } from '../tool.ts'
import { WorkerName } from '../worker-name.ts'

/** How a tunnel is asked for, by its two ends: a WebSocket, the ticket of the worker's end in a header of its own. */
export const TUNNEL_PATH = '/api/tunnel'
export const TUNNEL_TICKET_HEADER = 'parley-ticket'
/** What runs on a tunnel: the process API of an executor, or the MCP of an agent that a host holds. */
export const TunnelKind = z.enum(['executor', 'agent'])
export type TunnelKind = z.infer<typeof TunnelKind>

/** Every bound of what a worker tells, by name. */
export const WORKER_LIMITS = {
  labels: 16,
  slots: 1_024,
  /** Processes that are told one by one; `running` counts them all. */
  processes: 24,
  /** How often a worker says that it is here, and after how long a silence it is gone. */
  heartbeatMs: 10_000,
  silentMs: 30_000,
} as const

/** Tells one start of a worker from the next. */
export const WorkerInstance = z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 hex digits, new at each start')
const LabelKey = z.string().regex(/^[a-z0-9][a-z0-9._/-]{0,62}$/, 'must have 1 to 63 small letters, digits, - _ . or /')
const LABEL_VALUE_CHARS = 128
/** All workers with a label: `gpu=yes`. */
export const WorkerLabel = z
  .string()
  .max(64 + LABEL_VALUE_CHARS)
  .regex(/^[a-z0-9][a-z0-9._/-]{0,62}=/, 'must be a label: key=value')
/** What is said of a worker, for who looks for one: `gpu` is `yes`. */
export const WorkerLabels = z
  .array(z.object({ key: LabelKey, value: z.string().max(LABEL_VALUE_CHARS) }))
  .max(WORKER_LIMITS.labels)
  .refine((labels) => new Set(labels.map(({ key }) => key)).size === labels.length, 'must have each key once')
export type WorkerLabels = z.infer<typeof WorkerLabels>

export const WorkerFacts = z.object({
  version: z.string().max(64),
  os: z.string().max(32),
  arch: z.string().max(32),
  cores: z.int().min(1).max(65_536),
})
export type WorkerFacts = z.infer<typeof WorkerFacts>

const Count = z.int().min(0).max(1_000_000)
/** What a worker has to do now. A program is told by its name alone: arguments may hold secrets. */
export const WorkerLoad = z.object({
  sessions: Count,
  running: Count,
  processes: z.array(z.object({ program: z.string().max(128), since: z.iso.datetime() })).max(WORKER_LIMITS.processes),
  /** The machine's load over the last minute, where it has one. */
  load_1m: z.number().min(0).optional(),
})
export type WorkerLoad = z.infer<typeof WorkerLoad>

/** Where workers reach a gateway. */
const GatewayAddress = z.object({ id: z.string(), url: z.string() })
export type GatewayAddress = z.infer<typeof GatewayAddress>

export const workerHeartbeat = tool({
  name: 'worker.heartbeat',
  roles: ['host', 'executor'],
  doc: 'Says that this worker is here and what it has to do; on its connection it is told then of tunnels to open. Again every `heartbeat_ms`.',
  input: z.strictObject({
    instance: WorkerInstance,
    /** Left out: as its token is named. The name is the token's own while that stands; two instances of one name cannot be here at once. */
    name: WorkerName.optional(),
    labels: WorkerLabels.default([]),
    /** What it runs at once at most. */
    slots: z.int().min(1).max(WORKER_LIMITS.slots),
    facts: WorkerFacts,
    load: WorkerLoad,
  }),
  output: z.object({
    name: WorkerName,
    /** True: finish what there is and take nothing new. */
    drain: z.boolean(),
    /** Which of the gateways answers. A worker holds a connection to each of them. */
    gateway: z.string(),
    gateways: z.array(GatewayAddress),
    heartbeat_ms: z.int(),
  }),
  annotations: SETS,
})

/** An executor as admins see it. */
export const ExecutorView = z.object({
  name: WorkerName,
  /** `draining`: takes nothing new; `gone`: said so, or was silent for half a minute. */
  state: z.enum(['idle', 'busy', 'draining', 'gone']),
  drain: z.boolean(),
  labels: WorkerLabels,
  slots: z.int(),
  first_seen_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
  facts: WorkerFacts,
  load: WorkerLoad,
})
export type ExecutorView = z.infer<typeof ExecutorView>

export const executorList = tool({
  name: 'executor.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The executors that are here, with their labels, their slots and what runs on them; `gone: true` adds those of the last day that left.',
  input: z.strictObject({ gone: z.boolean().default(false) }),
  output: z.object({ items: z.array(ExecutorView) }),
  annotations: READS,
})

export const executorDrain = tool({
  name: 'executor.drain',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Tells an executor to take no new sessions; those that it has go on. `drain: false` takes it back.',
  input: z.strictObject({ name: WorkerName, drain: z.boolean().default(true) }),
  output: z.object({ name: WorkerName, drain: z.boolean() }),
  annotations: SETS,
})
