import type { ByteShare } from '@parley/protocol'
import type { ExecBackend } from '../backend/exec-spec.ts'
import { ExecutorProcessTransport, type TransportLog } from './executor-process-transport.ts'

/** An MCP server on stdio. */
export interface McpServerSpec {
  readonly command: string
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** An absolute folder at the place where it runs. */
  readonly cwd: string
}

export interface StartMcpServerOptions {
  readonly log: TransportLog
  /** Takes secrets out of what the server said last, where its end is told. */
  readonly mask?: (text: string) => string
  /** The longest message that is taken from the server. */
  readonly stdoutLineBytes?: number
  /** Room for what has come of an unfinished message; a server for whose message there is none is ended. */
  readonly share?: ByteShare
}

let started = 0

/**
 * Starts an MCP server at a place and answers the way to it. Nothing that it says can be lost while the place lives: it waits when
 * nobody takes it. It ends with the transport.
 */
export async function startMcpServer(
  { command, args = [], env, cwd }: McpServerSpec,
  place: ExecBackend,
  options: StartMcpServerOptions,
): Promise<ExecutorProcessTransport> {
  started += 1
  const process = await place.start({
    processId: `mcp-stdio-${started}`,
    argv: [command, ...args],
    env,
    cwd,
    tty: false,
    pipeStdin: true,
    onFull: 'hold',
    groupOutlivesLeader: false,
  })
  return new ExecutorProcessTransport(process, { name: command, ...options })
}
