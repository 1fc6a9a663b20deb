import type { JsonObject } from '@parley/protocol'
import type { EngineEvent, FileChange, Reach } from '@parley/agent'
import type { ModelTool } from '../model/model.ts'

/** What a call is about, for the events around it and for whoever has to approve it. */
export type CallSubject =
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly folder: string }
  | { readonly kind: 'patch'; readonly changes: readonly FileChange[] }
  | { readonly kind: 'tool' }

/** One piece of a result as the model reads it. */
export type ResultPart = { readonly type: 'text'; readonly text: string } | { readonly type: 'image'; readonly url: string }

export interface ToolResult {
  readonly parts: readonly ResultPart[]
  readonly isError: boolean
  /** A mounted server's answer as it was. */
  readonly raw?: JsonObject
  /** For commands. */
  readonly exitCode?: number | null
  readonly output?: string
}

export interface RunContext {
  readonly call: string
  readonly reach: Reach
  readonly network: boolean
  /** `command_output`, `tool_output` and `plan` alone: what begins and ends a call is the loop's to say. */
  readonly emit: (event: EngineEvent) => void
  readonly signal: AbortSignal
}

/** A tool that the model may call, whatever stands behind it. */
export interface BoundTool {
  readonly spec: ModelTool
  /** Null: the engine's own. */
  readonly mount: string | null
  /** Its name at the mount, or its own. */
  readonly tool: string
  /** Throws `BadArguments`, which the model reads. */
  subject(args: JsonObject): CallSubject | Promise<CallSubject>
  /** Answers whatever happens, cut to its bound; rejects only when the signal fired. */
  run(args: JsonObject, context: RunContext): Promise<ToolResult>
}

/** What a conversation may call: the engine's own tools and those of its mounts. */
export interface Toolbox {
  readonly tools: readonly BoundTool[]
  /** Mounts that are left out, and why. */
  readonly warnings: readonly string[]
  /** By the name that the model used. */
  find(name: string): BoundTool | undefined
  close(): Promise<void>
}

/** The model's arguments do not fit: it reads the message and tries again. */
export class BadArguments extends Error {
  readonly code = 'bad_arguments'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BadArguments'
  }
}
