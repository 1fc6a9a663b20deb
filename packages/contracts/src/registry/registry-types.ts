import type { JsonValue } from '@parley/protocol'
import { z } from 'zod'

/** The versions whose behaviour was recorded, oldest first. */
export const OBSERVED_VERSIONS = ['0.42.0', '0.44.0', '0.153.4', '0.166.0'] as const
export type ObservedVersion = (typeof OBSERVED_VERSIONS)[number]

/** Every contract there is, by the name of its files; `codex-event` is `codex/event` on the wire. */
export const NAMES = [
  'newConversation',
  'sendUserMessage',
  'sendUserTurn',
  'interruptConversation',
  'listConversations',
  'resumeConversation',
  'archiveConversation',
  'getUserSavedConfig',
  'setDefaultModel',
  'getUserAgent',
  'userInfo',
  'loginApiKey',
  'loginChatGpt',
  'cancelLoginChatGpt',
  'logoutChatGpt',
  'getAuthStatus',
  'gitDiffToRemote',
  'execOneOffCommand',
  'applyPatchApproval',
  'execCommandApproval',
  'loginChatGptComplete',
  'authStatusChange',
  'codex-event',
  'addConversationListener',
  'removeConversationListener',
  'sessionConfigured',
  'fuzzyFileSearch',
  'initialize',
] as const
export type ContractName = (typeof NAMES)[number]

const Kind = z.enum(['request', 'server-request', 'notification'])

/** A JSON Schema (draft-07) of one value. */
export const JsonSchema = z.record(z.string(), z.json())
export type JsonSchema = z.infer<typeof JsonSchema>

const Version = z.string().regex(/^\d+\.\d+\.\d+$/)
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Where a statement comes from; each kind can be looked up again and has the hash of what was read. */
export const DataSource = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('recording'), file: z.string(), line: z.int().positive(), sha256: Sha256 }),
  z.strictObject({
    kind: z.literal('document'),
    repository: z.string(),
    path: z.string(),
    lines: z.tuple([z.int().positive(), z.int().positive()]),
    commit: z.string().regex(/^[0-9a-f]{40}$/),
    sha256: Sha256,
    copy: z.string(),
  }),
  z.strictObject({ kind: z.literal('binary'), version: Version, generator: z.string(), file: z.string(), sha256: Sha256 }),
])
export type DataSource = z.infer<typeof DataSource>

/** What the documents promise of one method or notification. */
export const DeclaredContract = z.strictObject({
  $schema: z.literal('http://json-schema.org/draft-07/schema#'),
  title: z.string(),
  description: z.string(),
  kind: Kind,
  request: JsonSchema,
  response: JsonSchema,
  minVersion: Version,
  maxVersion: Version.nullable(),
  versionSpecificParams: z.record(z.string(), z.strictObject({ minVersion: Version, incompatibleBehavior: z.string() })),
  versionSpecificResponse: z.record(z.string(), z.strictObject({ minVersion: Version, note: z.string() })).optional(),
  dataSource: DataSource,
})
export type DeclaredContract = z.infer<typeof DeclaredContract>

/** One way in which a real version refuses. `message` is a pattern. */
const Refusal = z.strictObject({
  when: z.string(),
  params: z.json().optional(),
  answer: z.enum(['error', 'silence']),
  code: z.int().optional(),
  message: z.string().optional(),
  dataSource: DataSource,
})

/** What one real version does with one method or notification. */
export const ObservedContract = z.strictObject({
  method: z.string(),
  version: Version,
  kind: Kind,
  server: z.enum(['codex mcp', 'codex app-server']),
  present: z.boolean(),
  request: JsonSchema.optional(),
  response: JsonSchema.optional(),
  errors: z.array(Refusal).optional(),
  /** `codex-event` alone: the schema of `params.msg` by type. */
  events: z.record(z.string(), JsonSchema).optional(),
  /** `codex-event` alone: the params of the plain `codex/event` of a tool call. */
  toolCall: JsonSchema.optional(),
  /** What a client gets that uses a method which is not there. */
  absent: z
    .strictObject({ answer: z.enum(['error', 'silence']), code: z.int().optional(), message: z.string().optional() })
    .optional(),
  dataSource: DataSource,
  /** The types that the binary itself writes: which fields may be left out is read there, since a sample cannot tell. */
  types: DataSource.optional(),
})
export type ObservedContract = z.infer<typeof ObservedContract>

/** One place where what is declared and what a real version does are not the same. */
export const Difference = z.strictObject({
  method: z.string(),
  versions: z.array(Version).min(1),
  /** `server`, `envelope`, `handshake`, `request`, `response`, `event` or `gate`, with a JSON pointer behind `#` for one place. */
  where: z.string().regex(/^(server|envelope|handshake|request|response|event|gate)(#\/.*)?$/),
  declared: z.string(),
  observed: z.string(),
  effect: z.enum(['refused', 'denied', 'reshaped', 'missing', 'extra', 'warning']),
  evidence: z.strictObject({ recording: z.string(), line: z.int().positive() }),
})
export type Difference = z.infer<typeof Difference>

export const Differences = z.array(Difference)

/** The first line of a recording. */
export const RecordingHeader = z.strictObject({
  /** As `codex --version` says it. */
  codex: z.string(),
  version: Version,
  server: z.string(),
  scenario: z.string(),
  recordedWith: z.string(),
  model: z.string(),
})
export type RecordingHeader = z.infer<typeof RecordingHeader>

/** Every other line of a recording. `>` went to Codex. */
export const RecordedLine = z.strictObject({
  dir: z.enum(['>', '<']),
  message: z.custom<JsonValue>((value) => value !== undefined),
})
export type RecordedLine = z.infer<typeof RecordedLine>
