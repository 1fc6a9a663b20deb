import { test } from 'vitest'
import { AGENT_CLIENT_NAMES } from './fixture/agent-clients.ts'
import { realMountsTogether } from './fixture/real-mounts-together.ts'
import { REAL_SERVERS } from './fixture/real-mounts.ts'

test.for(AGENT_CLIENT_NAMES)(
  '%s uses all real servers of one agent, and nothing is left of them',
  { timeout: 480_000 },
  (client, context) => realMountsTogether(context, { servers: REAL_SERVERS, client }),
)
