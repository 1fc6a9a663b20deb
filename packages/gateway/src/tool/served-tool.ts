import type * as z from 'zod'
import type { ToolSpec } from '@parley/protocol'
import type { Call } from '@parley/rpc'
import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import type { Recorder } from '../audit/recorder.ts'
import type { OneTimeLinks } from '../auth/one-time-link.ts'
import type { Passwords } from '../auth/password.ts'
import type { RandomBytes } from '../auth/token-text.ts'
import type { GatewayCaller } from '../caller.ts'
import type { ModelDirectory, QuotaBook } from '../channel/directory.ts'
import type { ScriptFiles } from '../channel/script-files.ts'
import type { Creations } from '../blob/inputs-share.ts'
import type { JobWatch } from '../job/stream/watch.ts'
import type { JudgeDesk } from '../judge/desk.ts'
import type { SignInLimit } from '../limit/sign-in-limit.ts'
import type { Sealer } from '../secret/seal.ts'

/** What every tool may use. One for the whole gateway. */
export interface World {
  readonly store: Store
  readonly audit: Recorder
  readonly links: OneTimeLinks
  readonly passwords: Passwords
  readonly signInLimit: SignInLimit
  readonly creations: Creations
  readonly watch: JobWatch
  readonly desk: JudgeDesk
  readonly directory: ModelDirectory
  readonly quotas: QuotaBook
  readonly sealer: Sealer
  readonly scripts: ScriptFiles
  /** Where somebody who called us by that name reaches us; without one, where everybody does. */
  readonly urlFor: (host: string | undefined) => string
  readonly log: Logger
  readonly now: () => number
  readonly random: RandomBytes
}

/** One call of one tool. */
export interface ToolContext {
  readonly caller: GatewayCaller
  /** The request on the wire; `undefined` when the tool is run on this machine without one. */
  readonly call: Call<GatewayCaller> | undefined
  readonly world: World
  /** What the call was about, for the audit log: an id or a name, never a secret. */
  target?: string
}

export type AuditMode = 'durable' | 'soon' | 'failures'

/** A tool that works: its declaration and what it does. Arguments are checked before `run` sees them. */
export interface ServedTool<Input extends z.ZodObject = z.ZodObject> {
  readonly spec: ToolSpec<string, Input>
  /**
   * `durable`: in the audit log before it runs and before it answers. `soon`: within a moment. By default only readers are
   * `soon`. `failures`: only what was refused, for calls that come by the thousand and leave their own trace.
   */
  readonly audit?: AuditMode
  /** Arguments that may hold any characters, because they are kept as bytes or as JSON alone: what judged programs printed. */
  readonly anyText?: readonly string[]
  /** Answers what the spec's output says, or throws `ToolError`. Stay synchronous where nothing is waited for. */
  run(args: z.output<Input>, context: ToolContext): object | Promise<object>
}

/** Binds a declaration to what it does, with the types of both checked against each other. */
export function serveTool<Name extends string, Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Name, Input, Output>,
  run: (args: z.output<Input>, context: ToolContext) => z.output<Output> | Promise<z.output<Output>>,
  more: Pick<ServedTool, 'audit' | 'anyText'> = {},
): ServedTool<Input> {
  return { spec, run, ...more }
}
