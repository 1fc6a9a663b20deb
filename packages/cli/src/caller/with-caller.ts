import type { SteadyClient } from '@parley/client'
import type { Invocation } from '../command-line/command.ts'
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

/** Prints a result: as text for people, as one line of JSON for programs. */
export function show({ io, values }: Pick<Invocation, 'io' | 'values'>, result: object, text: string): number {
  io.out(values.has('json') ? `${JSON.stringify(result)}\n` : `${text}\n`)
  return 0
}
