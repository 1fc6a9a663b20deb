import { AgentId, type ToolInput } from '@parley/protocol'
import type { Client } from '@parley/rpc'

const RULES = 50
/** In each layer one rule has a condition that must be evaluated; together they let the call through. */
const CONDITIONS: readonly (readonly [ToolInput<'policy.set'>['layer'] & string, string])[] = [
  ['installation', '!args.text.contains("..") && kind == "tool"'],
  ['owner', 'size(args.text) < 100000'],
  ['agent', 'args.text.matches("^[a-zA-Z0-9 ]") && counts.turn < 1000000000'],
]

/** Holds an agent by three layers of fifty rules, none of them but one in each for the call that is measured. */
export async function holdByPolicies(admin: Client, agentId: string): Promise<void> {
  for (const [layer, condition] of CONDITIONS) {
    const whose = layer === 'agent' ? { layer, agent_id: AgentId.parse(agentId) } : { layer }
    const { version, review } = await admin.callTool('policy.set', { ...whose, text: textOf(condition) })
    await admin.callTool('policy.activate', { ...whose, version, digest: review.digest })
  }
}

function textOf(condition: string): string {
  const others = Array.from({ length: RULES - 1 }, (_, at) => {
    const when = at % 2 === 0 ? `\nwhen = 'args.path == "x"'` : ''
    return `[[rule]]\nname = "other-${at}"\nmount = "mount-${at}"\ntool = "tool_${at}_*"${when}\ndecision = "deny_continue"\n`
  })
  return `${others.join('\n')}\n[[rule]]\nname = "this"\nmount = "only"\ntool = "ec*"\nwhen = '${condition}'\ndecision = "allow"\n`
}
