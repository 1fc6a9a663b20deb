import { mcpServer } from '@parley/codex-server/mcp-server'
import { serveStdio } from '@parley/rpc/stdio'
import type { Invocation } from '@parley/command-line'
import { openServerBackend } from '../../codex-server/open-server-backend.ts'
import { planServer } from '../../codex-server/server-plan.ts'

/** After the input ended, whatever still runs may take this long to end. */
const END_MS = 1_800

/** What `codex mcp-server` was, on stdin and stdout, until stdin ends. */
export async function mcpServerCommand(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const plan = planServer(invocation, 'mcp-server')
  const behind = openServerBackend(invocation, plan)
  await behind.check()
  const { log, agent } = plan
  const unanswerable = UNANSWERABLE.find((word) => word === values.text('unanswerable'))
  const server = mcpServer({
    backend: behind.backend,
    dialect: values.text('dialect') === '0.44' ? '0.44' : '0.153',
    agent,
    folder: io.cwd,
    ...(unanswerable === undefined ? {} : { whenUnanswerable: unanswerable }),
    log: (level, line) => log(level, 'parley_codex', line),
  })
  const stop = io.onSignal(() => io.stdin.destroy())
  await serveStdio({
    input: io.stdin,
    output: process.stdout,
    service: server,
    warn: (message) => log('error', 'parley_codex', message),
  })
  setTimeout(() => process.exit(0), END_MS).unref()
  await server.close()
  await behind.close()
  stop()
  return 0
}

const UNANSWERABLE = ['deny', 'approve', 'abort', 'ask'] as const
