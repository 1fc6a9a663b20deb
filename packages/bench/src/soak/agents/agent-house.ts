import { join } from 'node:path'
import type { ToolInput } from '@parley/protocol'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import { outputOf } from '../../measure/output-of.ts'
import { type Program, startProgram } from '../../measure/program.ts'
import { GatewayProcess, LAUNCHER } from '../gateway-process.ts'

export interface MadeAgent {
  readonly id: string
  readonly token: string
}

/** A gateway that lets agents call what is mounted for them, and hosts that hold them: programs that can be killed. */
export class AgentHouse extends GatewayProcess {
  readonly #hosts = new Map<string, Program>()
  readonly #executors: Program[] = []
  #admin: Client | undefined

  constructor(env: Readonly<Record<string, string>> = { PARLEY_GATE_DEFAULT: 'allow' }) {
    super(env)
  }

  /** With an admin whose agents may run programs on the hosts as they are. */
  override async open(): Promise<void> {
    await super.open()
    await (await this.admin()).callTool('grant.set', { username: 'admin', unboxed: true, private_http: true, executors: ['*'] })
  }

  async admin(): Promise<Client> {
    this.#admin ??= await connectClient(httpTransport({ url: `${this.url}/mcp`, token: this.token }), {
      clientInfo: { name: 'soak', version: '1' },
      era: 'modern',
    })
    return this.#admin
  }

  async startHost(name: string, env: Readonly<Record<string, string>> = {}): Promise<Program> {
    const file = join(this.folder, name)
    if (!this.#hosts.has(name)) await this.makeToken(name, ['--role', 'host', '--name', name])
    const command = [process.execPath, LAUNCHER, 'host', '--url', this.url, '--token-file', file, '--json']
    const host = await startProgram([...command, '--data', this.folder], { env })
    this.#hosts.set(name, host)
    return host
  }

  async startExecutor(name: string): Promise<Program> {
    await this.makeToken(`${name}.executor`, ['--role', 'executor', '--name', name])
    const options = ['--join', this.url, '--token-file', join(this.folder, `${name}.executor`), '--json']
    const executor = await startProgram([process.execPath, LAUNCHER, 'exec-server', ...options])
    this.#executors.push(executor)
    return executor
  }

  async killHost(name: string): Promise<void> {
    this.#hosts.get(name)?.kill('SIGKILL')
    await this.#hosts.get(name)?.ended()
  }

  async makeAgent(): Promise<MadeAgent> {
    const admin = await this.admin()
    const { agent_id: id } = await admin.callTool('agent.create', {})
    const { token } = await admin.callTool('agent.token', { agent_id: id })
    return { id, token }
  }

  async mount(agent: MadeAgent, mount: Omit<ToolInput<'mount.attach'>, 'agent_id'>): Promise<void> {
    await (await this.admin()).callTool('mount.attach', { agent_id: agent.id, ...mount })
  }

  /** What a command says that somebody gives at this machine. Throws when it fails. */
  shell(...args: readonly string[]): Promise<string> {
    return outputOf(process.execPath, [LAUNCHER, ...args, '--data', this.folder])
  }

  override async close(): Promise<void> {
    await this.#admin?.close()
    await Promise.all([...this.#hosts.values(), ...this.#executors].map((worker) => worker.stop()))
    await super.close()
  }
}
