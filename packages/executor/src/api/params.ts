import { z } from 'zod'
import { refusal } from './error-code.ts'

/** The longest that a session may keep its processes without a connection. */
const DETACH_MAX_MS = 10 * 60_000
/** As the real one does, for clients that do not say. */
export const DETACH_MS = 30_000
/** The most that may be asked to be kept of one process. */
const RETAIN_MAX_BYTES = 64 * 1024 * 1024

const ProcessId = z.string().min(1).max(256)
const Seq = z.int().min(0)
const Chunk = z.base64()

/** The first message. `detachMs` is ours: how long processes outlive a lost connection; 0 ends them with it. */
export const InitializeParams = z.object({
  clientName: z.string(),
  resumeSessionId: z.string().nullish(),
  detachMs: z.int().min(0).max(DETACH_MAX_MS).nullish(),
})

/** Which variables of the executor a process gets. */
export const EnvPolicy = z.object({
  inherit: z.enum(['core', 'all', 'none']),
  ignoreDefaultExcludes: z.boolean().default(true),
  exclude: z.array(z.string()).default([]),
  set: z.record(z.string(), z.string()).default({}),
  includeOnly: z.array(z.string()).default([]),
})
export type EnvPolicy = z.infer<typeof EnvPolicy>

/** `onFull`, `retainBytes` and `groupOutlivesLeader` are ours; what we cannot do must be absent, null or false. */
export const ProcessStartParams = z.object({
  processId: ProcessId,
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  envPolicy: EnvPolicy.nullish(),
  tty: z.boolean(),
  pipeStdin: z.boolean().default(false),
  arg0: z.string().nullish(),
  sandbox: z.unknown().optional(),
  managedNetwork: z.unknown().optional(),
  enforceManagedNetwork: z.boolean().nullish(),
  onFull: z.enum(['drop', 'hold']).default('drop'),
  retainBytes: z.int().min(1).max(RETAIN_MAX_BYTES).optional(),
  groupOutlivesLeader: z.boolean().default(true),
})
export type ProcessStartParams = z.infer<typeof ProcessStartParams>

export const ProcessReadParams = z.object({
  processId: ProcessId,
  afterSeq: Seq.nullish(),
  maxBytes: z.int().min(0).nullish(),
  waitMs: z.int().min(0).nullish(),
})
export const ProcessWriteParams = z.object({ processId: ProcessId, chunk: Chunk, writeId: z.string().min(1).max(256) })
export const ProcessSignalParams = z.object({ processId: ProcessId, signal: z.literal('interrupt') })
/** `force` is ours. */
export const ProcessTerminateParams = z.object({ processId: ProcessId, force: z.boolean().default(false) })
/** A notification of ours: everything up to `seq` has been dealt with, for processes with `onFull: "hold"`. */
export const ProcessTakenParams = z.object({ processId: ProcessId, seq: Seq })
/** A notification of ours: no more will be written to it. */
export const ProcessEndInputParams = z.object({ processId: ProcessId })

export const PathParams = z.object({ path: z.string() })
export const WriteFileParams = z.object({ path: z.string(), dataBase64: Chunk })
/** What is left out counts as true, as for the real one. */
export const CreateDirectoryParams = z.object({ path: z.string(), recursive: z.boolean().nullish() })
export const RemoveParams = z.object({ path: z.string(), recursive: z.boolean().nullish(), force: z.boolean().nullish() })

/** What was asked for, or a refusal that names the field. */
export function paramsOf<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given ?? {})
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.') ?? ''
  const isMissing = issue?.code === 'invalid_type' && valueAt(given, issue.path) === undefined
  throw refusal(
    'invalidParams',
    isMissing ? `missing field \`${field}\`` : `invalid \`${field}\`: ${issue?.message ?? 'unknown'}`,
  )
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    given,
  )
}
