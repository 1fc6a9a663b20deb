import type { Invocation } from '@parley/command-line'
import { hearEnd, show } from '@parley/command-line/commands'
import { hostPlanOf } from '../../host-process/host-plan-of.ts'
import { openHostHere } from '../../host-process/open-host.ts'

/** One host in this process, until it is told to end. */
export async function host(invocation: Invocation): Promise<number> {
  const { io } = invocation
  const plan = hostPlanOf(invocation)
  const end = hearEnd(io)
  const opened = await end.before(openHostHere(plan, { ...io, signal: end.signal }), 'the gateway', (late) => late.close())
  const { name, url, slots } = opened.ready
  show(invocation, opened.ready, `${name} takes part at ${url}: ${slots} ${slots === 1 ? 'agent' : 'agents'} at once`)
  await end.asked
  await opened.close()
  end.ignore()
  return 0
}
