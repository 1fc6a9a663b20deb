import type { Agent } from 'node:http'
import * as z from 'zod'
import type { OwnGateway } from '../own/open-gateway.ts'
import { callTool } from './modern-call.ts'

const Memory = z.object({ heap_bytes: z.number(), rss_bytes: z.number(), sessions: z.number(), subscriptions: z.number() })
export type Memory = z.infer<typeof Memory>

/** What the gateway holds after a collection. */
export async function memoryOf(agent: Agent, gateway: OwnGateway): Promise<Memory> {
  return Memory.parse(await callTool(agent, gateway.mcp, gateway.token, 'soak.memory', {}))
}
