import type { Commands, ConnectMount } from '@parley/agent'

/** What the tools of a conversation need from outside. */
export interface ToolPorts {
  /** Left out: there is no `shell`. */
  readonly commands?: Commands
  /** Folders and files that no tool of a conversation reads or writes, whatever its reach. `commands` keeps them from programs. */
  readonly outOfReach?: readonly string[]
  readonly connectMount: ConnectMount
  readonly random: (size: number) => Uint8Array
}

/** The bounds of tools that whoever opens an engine may set. Those that stay as they are stand in `bounds.ts`. */
export interface ToolLimits {
  /** What of one tool's result the model gets to read. */
  readonly resultBytes: number
  readonly commandMs: number
  readonly mountConnectMs: number
  readonly toolMs: number
}

export const TOOL_LIMITS: ToolLimits = {
  resultBytes: 32 * 1024,
  commandMs: 120_000,
  mountConnectMs: 30_000,
  toolMs: 660_000,
}
