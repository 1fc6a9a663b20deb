import * as z from 'zod'
import { WorkerName } from '../worker-name.ts'

/** Names under which the compositor has tools of its own. */
export const RESERVED_MOUNTS: readonly string[] = [
  'resources',
  'loop',
  'tools',
  'chat',
  'policy',
  'guard',
  'compositor',
  'agents',
  'approvals',
]

/** What a mount is called: clients see `{name}_{tool}`, and since a name has no `_` the first one separates. */
export const MountName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must have 1 to 32 small letters, digits or -, and begin with a letter')
  .refine((name) => !RESERVED_MOUNTS.includes(name), 'is a name that agents’ own tools have; choose another')
export type MountName = z.infer<typeof MountName>

/** One variable of an environment, or one header. */
const NamedValue = z.strictObject({ name: z.string().min(1).max(256), value: z.string().max(65_536) })

/** Where a mounted program runs: in a box of its host, on the host as it is, or on an executor. */
export const MountPlace = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('boxed') }),
  z.strictObject({ kind: z.literal('host') }),
  z.strictObject({ kind: z.literal('executor'), executor: WorkerName }),
])
export type MountPlace = z.infer<typeof MountPlace>

/** An MCP server to mount: a program that speaks on its standard streams, or a URL. Values of variables and headers are secrets. */
export const ServerSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('stdio'),
    command: z.string().min(1).max(4_096),
    args: z.array(z.string().max(65_536)).max(256).default([]),
    env: z.array(NamedValue).max(128).default([]),
    /** The folder it runs in; left out, one of its agent's own. */
    folder: z.string().max(4_096).optional(),
    place: MountPlace.default({ kind: 'boxed' }),
    /** Whether a boxed one reaches the network of its host, which must be granted (`private_http`). */
    network: z.boolean().default(false),
  }),
  z.strictObject({
    kind: z.literal('http'),
    url: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).max(2_048),
    headers: z.array(NamedValue).max(64).default([]),
  }),
])
export type ServerSpec = z.infer<typeof ServerSpec>

const ToolNames = z.array(z.string().min(1).max(128)).max(1_000)

/** Which resources or prompts are shown, by the URIs or names that their server gives them. One that ends with `*` means all that begin so. */
const ShownChoice = z.strictObject({
  /** Left out: all. */
  allow: z.array(z.string().min(1).max(4_096)).max(1_000).optional(),
  deny: z.array(z.string().min(1).max(4_096)).max(1_000).default([]),
})

/** How a mount is shown, and what its server may do beyond answering. */
export const MountSettings = z.strictObject({
  /** Shown without a prefix. One mount of an agent may be. */
  plain: z.boolean().default(false),
  /** Started with the agent, instead of when it is first needed. */
  eager: z.boolean().default(false),
  /** The tools that are shown; left out, all. */
  allow: ToolNames.optional(),
  /** Tools that are not shown. */
  deny: ToolNames.default([]),
  /** The same for its resources, with their templates, and for its prompts. */
  resources: ShownChoice.prefault({}),
  prompts: ShownChoice.prefault({}),
  renames: z
    .array(z.strictObject({ from: z.string().min(1).max(128), to: z.string().min(1).max(128) }))
    .max(256)
    .default([]),
  /** Folders that it is told of as roots: `file:` URIs. What a client calls its roots is not passed on. */
  roots: z.array(z.string().startsWith('file:///').max(4_096)).max(64).default([]),
  /** Whether it may ask whoever called: questions, and completions of their model. */
  asks: z.boolean().default(true),
  samples: z.boolean().default(false),
  /** The era that is spoken with it; left out, modern where it can. */
  era: z.enum(['legacy', 'modern']).optional(),
  /** How long one call may take until it is cancelled: an hour at most, as every call. */
  call_timeout_ms: z.int().min(1_000).max(86_400_000).default(3_600_000),
})
export type MountSettings = z.infer<typeof MountSettings>

/** What a host says of a mount that it holds. */
export const MountReport = z.object({
  name: z.string(),
  /** `pending`: not needed yet; `failed`: it is tried again by itself. */
  state: z.enum(['pending', 'starting', 'active', 'failed', 'restarting', 'closed']),
  tools: z.int(),
  restarts: z.int(),
  error: z.string().max(2_000).nullable(),
})
export type MountReport = z.infer<typeof MountReport>
