import type * as z from 'zod'
import type { ToolSpec } from './tool.ts'
import * as account from './tools/account.ts'
import * as agent from './tools/agent.ts'
import * as approval from './tools/approval.ts'
import * as audit from './tools/audit.ts'
import * as blob from './tools/blob.ts'
import * as channel from './tools/channel.ts'
import * as grant from './tools/grant.ts'
import * as hostApproval from './tools/host-approval.ts'
import * as hostTurn from './tools/host-turn.ts'
import * as host from './tools/host.ts'
import * as jobContent from './tools/job-content.ts'
import * as job from './tools/job.ts'
import * as judgeJob from './tools/judge-job.ts'
import * as judge from './tools/judge.ts'
import * as models from './tools/models.ts'
import * as mount from './tools/mount.ts'
import * as policy from './tools/policy.ts'
import * as pricing from './tools/pricing.ts'
import * as chat from './tools/chat.ts'
import * as hostCall from './tools/host/host-call.ts'
import * as prompt from './tools/prompt.ts'
import * as token from './tools/token.ts'
import * as usage from './tools/usage.ts'
import * as user from './tools/user.ts'
import * as worker from './tools/worker.ts'

/** All that the files of the nouns export: their tools, and the schemas that others need too. */
const DECLARED = {
  ...account,
  ...agent,
  ...approval,
  ...audit,
  ...blob,
  ...channel,
  ...grant,
  ...host,
  ...hostApproval,
  ...policy,
  ...hostTurn,
  ...job,
  ...jobContent,
  ...judge,
  ...judgeJob,
  ...models,
  ...mount,
  ...pricing,
  ...chat,
  ...hostCall,
  ...prompt,
  ...token,
  ...usage,
  ...user,
  ...worker,
}

/** The tools among what is exported, each by its own name. */
type ByName<Exported> = {
  readonly [Key in keyof Exported as Exported[Key] extends ToolSpec<infer Name> ? Name : never]: Exported[Key]
}

/** Every tool that works today, by name. Schemas, the reference, the typed client and the role servers are made from this. */
export const TOOLS = byName(DECLARED)

export type ToolName = keyof typeof TOOLS
/** What a caller may leave out is optional here. */
export type ToolInput<Name extends ToolName> = z.input<(typeof TOOLS)[Name]['input']>
/** What a handler gets: defaults filled in. */
export type ToolArguments<Name extends ToolName> = z.output<(typeof TOOLS)[Name]['input']>
export type ToolOutput<Name extends ToolName> = z.output<(typeof TOOLS)[Name]['output']>

function byName<Exported extends Readonly<Record<string, unknown>>>(exported: Exported): ByName<Exported> {
  const specs = Object.values(exported).filter(isTool)
  const sorted = specs.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const tools = Object.fromEntries(sorted.map((spec) => [spec.name, spec]))
  if (!holdsEach<Exported>(tools, specs)) throw new TypeError('two tools have the same name')
  return tools
}

/** Whether none took the place of another, and so the table is what its type says. */
function holdsEach<Exported>(tools: object, specs: readonly ToolSpec[]): tools is ByName<Exported> {
  return Object.keys(tools).length === specs.length
}

function isTool(exported: unknown): exported is ToolSpec {
  return typeof exported === 'object' && exported !== null && 'roles' in exported && 'annotations' in exported
}
