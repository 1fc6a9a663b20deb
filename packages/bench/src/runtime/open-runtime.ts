import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolInput } from '@parley/protocol'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import { type Program, startProgram } from '../measure/program.ts'
import { openOwnGateway, type OwnGateway } from '../own/open-gateway.ts'
import { LAUNCHER } from '../soak/gateway-process.ts'

export interface RuntimeOptions {
  /** The core that gateway, host, spawner and mount share. */
  readonly core?: number
  /** A folder that holds a database already. */
  readonly folder?: string
}

/** A gateway and a host as an operator runs them, and an admin who may mount programs on the host. */
export class Runtime implements AsyncDisposable {
  readonly gateway: OwnGateway
  readonly host: Program
  readonly admin: Client

  private constructor(gateway: OwnGateway, host: Program, admin: Client) {
    this.gateway = gateway
    this.host = host
    this.admin = admin
  }

  static async open(options: RuntimeOptions = {}): Promise<Runtime> {
    await using made = new AsyncDisposableStack()
    const gateway = made.use(await openOwnGateway({ ...options, allowsCalls: true }))
    const admin = await connectClient(httpTransport({ url: gateway.mcp, token: gateway.token }), {
      clientInfo: { name: 'bench', version: '1' },
      era: 'modern',
    })
    made.defer(() => admin.close())
    await admin.callTool('grant.set', { username: 'admin', unboxed: true })
    const { token } = await admin.callTool('token.create', { role: 'host', name: 'bench' })
    const file = join(gateway.folder, 'host-token')
    await writeFile(file, token, { mode: 0o600 })
    const command = ['host', '--url', gateway.url, '--token-file', file, '--data', gateway.folder, '--json']
    const pinned = options.core === undefined ? {} : { core: options.core }
    const host = await startProgram([process.execPath, LAUNCHER, ...command], pinned)
    made.move()
    return new Runtime(gateway, host, admin)
  }

  /** An agent with this program as its one mount, without a prefix. */
  async agentWith(command: readonly string[]): Promise<{ readonly agentId: string; readonly token: string }> {
    const { agent_id } = await this.admin.callTool('agent.create', {})
    const [file = '', ...args] = command
    const server: ToolInput<'mount.attach'>['server'] = { kind: 'stdio', command: file, args, place: { kind: 'host' } }
    await this.admin.callTool('mount.attach', { agent_id, name: 'only', server, options: { plain: true } })
    return { agentId: agent_id, token: (await this.admin.callTool('agent.token', { agent_id })).token }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.close()
    await this.host.stop()
    await this.gateway[Symbol.asyncDispose]()
  }
}
