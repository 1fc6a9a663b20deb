import type { ToolInput, ToolName, ToolOutput } from '@parley/protocol'

/** Somebody who may call the admin tools, by whichever way there is. */
export interface Admin {
  /** How it gets there, for messages. */
  readonly way: 'url' | 'socket' | 'database'
  /** Throws `ToolError`. */
  call<Name extends ToolName>(name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>>
  close(): Promise<void>
}
