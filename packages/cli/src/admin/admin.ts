import type { ToolInput, ToolName, ToolOutput } from '@parley/protocol'

/** Somebody who may call the admin tools, by whichever way there is. */
export interface Admin {
  /** Throws `ToolError`. */
  call<Name extends ToolName>(name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>>
  close(): Promise<void>
}
