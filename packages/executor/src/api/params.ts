import { z } from 'zod'
import { refusal } from './error-code.ts'

/** The longest that a session may keep its processes without a connection. */
const DETACH_MAX_MS = 10 * 60_000
/** As the real one does, for clients that do not say. */
export const DETACH_MS = 30_000
/** The most that may be asked to be kept of one process: one read answers with all of it, as letters, in one message of 64 MiB at most. */
const RETAIN_MAX_BYTES = 32 * 1024 * 1024

/** Patterns of one list of a policy, the length of each and of all. Every name is held against every pattern, and it all adds up. */
const PATTERNS_MAX = 256
const PATTERN_CHARS = 256
const PATTERNS_CHARS = 4_096
/** Variables that a policy sets are held against the patterns too; others are not. */
const SET_VARIABLES = { count: 128, nameChars: 128 }
const OWN_VARIABLES = { count: 4_096, nameChars: 1_024 }
/** No system starts a program with a longer one. */
const VARIABLE_CHARS = 1024 * 1024
/** How much of the name of a field is said back: the names of variables are part of it. */
const SHOWN_FIELD_CHARS = 120

const ProcessId = z.string().min(1).max(256)
const Seq = z.int().min(0)
const Chunk = z.base64()

/**
 * The first message. Ours are `detachMs`: how long processes outlive a lost connection; 0 ends them with it; and `takeOver`: the
 * connection that the session still has is gone, as its client knows.
 */
export const InitializeParams = z.object({
  clientName: z.string(),
  resumeSessionId: z.string().nullish(),
  detachMs: z.int().min(0).max(DETACH_MAX_MS).nullish(),
  takeOver: z.boolean().nullish(),
})

const Patterns = z
  .array(z.string().max(PATTERN_CHARS))
  .max(PATTERNS_MAX)
  .refine(
    (given) => given.reduce((sum, { length }) => sum + length, 0) <= PATTERNS_CHARS,
    `at most ${PATTERNS_CHARS} characters in all`,
  )
  .default([])
const variables = ({ count, nameChars }: { readonly count: number; readonly nameChars: number }) =>
  z
    .record(z.string(), z.string())
    .refine((given) => Object.keys(given).length <= count, `at most ${count} variables`)
    .refine(
      (given) => Object.keys(given).every(({ length }) => length <= nameChars),
      `the name of a variable has at most ${nameChars} characters`,
    )
    .refine(
      (given) => Object.values(given).every(({ length }) => length <= VARIABLE_CHARS),
      `a variable has at most ${VARIABLE_CHARS} characters`,
    )

/** Which variables of the executor a process gets. */
export const EnvPolicy = z.object({
  inherit: z.enum(['core', 'all', 'none']),
  ignoreDefaultExcludes: z.boolean().default(true),
  exclude: Patterns,
  set: variables(SET_VARIABLES).default({}),
  includeOnly: Patterns,
})
export type EnvPolicy = z.infer<typeof EnvPolicy>

/** `onFull`, `retainBytes` and `groupOutlivesLeader` are ours; what we cannot do must be absent, null or false. */
export const ProcessStartParams = z.object({
  processId: ProcessId,
  argv: z.array(z.string()),
  cwd: z.string(),
  env: variables(OWN_VARIABLES),
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
  const field = (issue?.path.join('.') ?? '').slice(0, SHOWN_FIELD_CHARS)
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
