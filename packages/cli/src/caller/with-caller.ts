import type { SteadyClient } from '@parley/client'
import type { Invocation } from '@parley/command-line'
import { openCaller } from './open-caller.ts'

/** Does something with the tools of a gateway, and lets go of it. */
export async function withCaller(
  invocation: Invocation,
  needed: 'user' | 'admin',
  use: (caller: SteadyClient) => Promise<number> | number,
): Promise<number> {
  const caller = await openCaller(invocation, needed)
  try {
    return await use(caller)
  } finally {
    await caller.close()
  }
}
