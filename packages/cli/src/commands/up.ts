import type { Invocation } from '../command-line/command.ts'
import { instanceOf } from '../config/instance.ts'
import { loadSettings } from '../config/load.ts'
import { readyMessage } from '../up/ready-message.ts'
import { supervise } from '../up/supervise.ts'

/** Everything on one machine, until it is told to end. */
export async function up(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const settings = instanceOf(invocation)
  // A person at a terminal wants the link, not a line per request; who asked for a level gets it.
  const wasAsked =
    values.has('log') ||
    loadSettings({ env: io.env, cwd: io.cwd, configFile: values.text('config') }).values.logLevel?.source !== 'default'
  const plan = { settings: wasAsked ? settings : { ...settings, logLevel: 'warn' as const }, cwd: io.cwd }
  return supervise(plan, io, (ready) => {
    io.out(values.has('json') ? `${JSON.stringify(ready)}\n` : readyMessage(ready))
  })
}
