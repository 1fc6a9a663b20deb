import type * as z from 'zod'
import type { AnswerSchema, RandomBytes, ToolSpec } from '@parley/protocol'
import type { Call } from '@parley/rpc'
import type { Store } from '@parley/store'
import type { KnownTask, TaskView } from '@parley/task'
import type { Logger } from 'pino'
import type { Recorder } from '../audit/recorder.ts'
import type { GatewayCaller } from '../caller.ts'

/** What every tool may use. A noun whose tools need more extends it; `world.ts` at the top has all of it. */
export interface ToolWorld {
  readonly store: Store
  readonly audit: Recorder
  readonly log: Logger
  readonly now: () => number
  readonly random: RandomBytes
}

/** One call of one tool. */
export interface ToolContext<World = ToolWorld> {
  readonly caller: GatewayCaller
  /** The request on the wire; `undefined` when the tool is run on this machine without one. */
  readonly call: Call<GatewayCaller> | undefined
  readonly world: World
  /** What the call was about, for the audit log: an id or a name, never a secret. */
  target?: string
}

/** What a tool began and what goes on after its answer. */
export interface BegunTask extends KnownTask {
  view(): TaskView
}

/** What calls of a tool begin, for clients to whom such a call is a task. Found again by its id in any gateway. */
export interface TaskKind<in World = ToolWorld> {
  /** Of what a call with this result began. */
  idOf(result: object): string
  /** `undefined`: there is none, or it is not the caller's. */
  find(id: string, context: ToolContext<World>): Promise<BegunTask | undefined>
}

export type AuditMode = 'durable' | 'soon' | 'failures'

/** A tool that works: its declaration and what it does. Arguments are checked before `run` sees them. */
export interface ServedTool<in World = ToolWorld, Input extends z.ZodObject = z.ZodObject> {
  readonly spec: ToolSpec<string, Input>
  /**
   * `durable`: in the audit log before it runs and before it answers. `soon`: within a moment. By default only readers are
   * `soon`. `failures`: only what was refused, for calls that come by the thousand and leave their own trace.
   */
  readonly audit?: AuditMode
  /** Arguments that may hold any characters, because they are kept as bytes or as JSON alone: what judged programs printed. */
  readonly anyText?: readonly string[]
  readonly task?: TaskKind<World>
  /** Answers what the spec's output says, or throws `ToolError`. Stay synchronous where nothing is waited for. */
  run(args: z.output<Input>, context: ToolContext<World>): object | Promise<object>
}

/** Binds declarations to what they do, for tools that work with `World`: the types of both are checked against each other. */
export const serving =
  <World extends ToolWorld>() =>
  <Name extends string, Input extends z.ZodObject, Output extends AnswerSchema>(
    spec: ToolSpec<Name, Input, Output>,
    run: (args: z.output<Input>, context: ToolContext<World>) => z.output<Output> | Promise<z.output<Output>>,
    more: Pick<ServedTool<World>, 'audit' | 'anyText' | 'task'> = {},
  ): ServedTool<World, Input> => ({ spec, run, ...more })
