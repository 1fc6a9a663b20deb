import { randomUUID } from 'node:crypto'
import { serveApp } from '@parley/codex-server/app-server'
import type { Invocation } from '@parley/command-line'
import { openServerBackend } from '../../codex-server/open-server-backend.ts'
import { planServer } from '../../codex-server/server-plan.ts'

/** After the input ended, whatever still runs may take this long to end. */
const END_MS = 1_950

/** What `codex app-server` was until 0.107, on stdin and stdout, until stdin ends. */
export async function appServerCommand(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const plan = planServer(invocation, 'app-server')
  const behind = openServerBackend(invocation, plan)
  await behind.check()
  const { log, agent } = plan
  const stop = io.onSignal(() => io.stdin.destroy())
  for (const event of ['end', 'close'] as const) io.stdin.once(event, () => setTimeout(() => process.exit(0), END_MS).unref())
  await serveApp({
    input: io.stdin,
    output: process.stdout,
    dialect: values.text('dialect') === '0.42' ? '0.42' : '0.44',
    backend: behind.backend,
    agent,
    folder: io.cwd,
    note: (line) => log('warn', 'parley_codex', line),
    newId: randomUUID,
  })
  await behind.close()
  stop()
  return 0
}
