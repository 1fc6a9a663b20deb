import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as z from 'zod'

const TOKEN_VARIABLE = 'PARLEY_FOREIGN_TOKEN'
const ANSWER_TIMEOUT_MS = 60_000

const Message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})
const Started = z.object({ thread: z.object({ id: z.string() }) })

export interface CodexCall {
  readonly codex: string
  /** A private CODEX_HOME: nothing of the user's is read or written. */
  readonly home: string
  readonly mcp: string
  readonly token: string
  readonly tool: string
}

/** Lets a real Codex connect to an MCP server and call one of its tools, without any model: through its app-server. */
export async function callThroughCodex({ codex, home, mcp, token, tool }: CodexCall): Promise<unknown> {
  await mkdir(home, { recursive: true })
  const server = [
    '[mcp_servers.gw]',
    `url = ${JSON.stringify(mcp)}`,
    `bearer_token_env_var = "${TOKEN_VARIABLE}"`,
    'startup_timeout_sec = 30',
  ]
  await writeFile(join(home, 'config.toml'), `${server.join('\n')}\n`)
  const child = spawn(process.execPath, [codex, 'app-server'], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, CODEX_HOME: home, [TOKEN_VARIABLE]: token },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const waiting = new Map<number, (message: z.infer<typeof Message>) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = Message.parse(JSON.parse(line))
    if (message.id !== undefined && message.method === undefined) waiting.get(message.id)?.(message)
  })
  let last = 0
  const ask = async (method: string, params: object): Promise<unknown> => {
    last += 1
    const answer = Promise.withResolvers<z.infer<typeof Message>>()
    waiting.set(last, answer.resolve)
    const late = setTimeout(() => answer.reject(new Error(`codex did not answer ${method}`)), ANSWER_TIMEOUT_MS)
    child.stdin.write(`${JSON.stringify({ id: last, method, params })}\n`)
    try {
      const { result, error } = await answer.promise
      if (error !== undefined) throw new Error(`codex answered ${method} with: ${error.message}`)
      return result
    } finally {
      clearTimeout(late)
    }
  }
  try {
    await ask('initialize', { clientInfo: { name: 'foreign', title: 'Foreign', version: '1.0.0' } })
    child.stdin.write(`${JSON.stringify({ method: 'initialized' })}\n`)
    const started = Started.parse(await ask('thread/start', { cwd: home, approvalPolicy: 'never', sandbox: 'read-only' }))
    return resultOf(await ask('mcpServer/tool/call', { threadId: started.thread.id, server: 'gw', tool, arguments: {} }))
  } finally {
    child.stdin.end()
    child.kill('SIGKILL')
  }
}

/** Codex wraps the tool's result once more in some versions. */
function resultOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'result' in value ? value.result : value
}
