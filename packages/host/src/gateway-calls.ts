import type { AgentClaim, ToolInput, ToolName, ToolOutput } from '@parley/protocol'

/** How a host speaks with its gateways: until it is answered, or the signal fires. */
export type GatewayCall = <Name extends ToolName>(
  name: Name,
  input: ToolInput<Name>,
  signal: AbortSignal,
) => Promise<ToolOutput<Name>>

/** What a host does about one agent goes under its claim. */
export interface AgentOfGateway {
  readonly claim: AgentClaim
  readonly call: GatewayCall
  /** Fires when the agent is let go of, or lost. */
  readonly signal: AbortSignal
}
