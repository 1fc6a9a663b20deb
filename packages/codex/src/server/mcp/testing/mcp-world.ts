import { PassThrough } from 'node:stream'
import { serveStdio } from '@parley/rpc'
import { type MiniBackendWorld, openMiniBackendWorld } from '../../../backend/fixture/mini-backend-world.ts'
import { mcpServer } from '../mcp-server.ts'
import type { McpServerOptions } from '../mcp-server-options.ts'
import { LineClient } from './line-client.ts'

/** The server over our own engine and a loopback model, with a client on its pipes. */
export interface McpWorld extends AsyncDisposable {
  readonly mini: MiniBackendWorld
  readonly client: LineClient
  readonly logged: readonly string[]
  readonly opened: () => number
  readonly input: PassThrough
  readonly output: PassThrough
  /** Settles when the server has ended. */
  readonly ended: Promise<void>
  /** Another server over the same files, as after a restart; this one has ended. */
  restart(): Promise<McpWorld>
}

export interface McpWorldOptions extends Partial<McpServerOptions> {
  readonly streamBufferBytes?: number
}

export async function openMcpWorld(options: McpWorldOptions = {}, mini?: MiniBackendWorld): Promise<McpWorld> {
  const { streamBufferBytes, ...more } = options
  const world = mini ?? (await openMiniBackendWorld({ givenKey: 'key' }))
  const input = new PassThrough()
  const output = new PassThrough()
  const logged: string[] = []
  let opened = 0
  const server = mcpServer({
    backend: () => {
      opened += 1
      return Promise.resolve(mini === undefined ? world.backend : world.reopen())
    },
    dialect: '0.153',
    agent: { platform: 'Test 1; x86_64', terminal: 'dumb', product: 'parley/0.1.0' },
    folder: world.workspace,
    log: (level, line) => void logged.push(`${level}: ${line}`),
    ...more,
  })
  const ended = serveStdio({
    input,
    output,
    service: server,
    limits: streamBufferBytes === undefined ? {} : { streamBufferBytes },
  }).then(() => server.close())
  const client = new LineClient(input, output)
  const end = async (): Promise<void> => {
    input.end()
    await ended
  }
  return {
    mini: world,
    client,
    logged,
    opened: () => opened,
    input,
    output,
    ended,
    restart: async () => {
      await end()
      return openMcpWorld(options, world)
    },
    [Symbol.asyncDispose]: async () => {
      await end()
      await world[Symbol.asyncDispose]()
    },
  }
}
