import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentId } from '@parley/protocol'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import * as z from 'zod'
import { outputOf } from '../../measure/output-of.ts'
import { type Program, freePort, killAlone, startProgram } from '../../measure/program.ts'
import { LAUNCHER } from '../gateway-process.ts'

const MOUNT = fileURLToPath(new URL('effect-mount-main.ts', import.meta.url))
const SECRET_BYTES = 32
export const MOUNT_NAME = 'm'

const MadeToken = z.object({ token: z.string(), id: z.string() })
const Line = z.discriminatedUnion('step', [
  z.object({ step: z.literal('start'), mount: z.string(), at: z.number(), host: z.string() }),
  z.object({ step: z.literal('effect'), mount: z.string(), at: z.number(), call: z.string() }),
  z.object({ step: z.literal('stop'), mount: z.string(), at: z.number() }),
])
/** What the program of a mount wrote down. */
export type MountLine = z.infer<typeof Line>

export interface SoakAgent {
  readonly id: AgentId
  readonly token: string
  /** What its mount wrote down so far, by whichever process. */
  lines(): readonly MountLine[]
  /** The processes of its mount, as this machine counts them. */
  pids(): readonly number[]
}

export interface AgentsWorldOptions {
  /** Left out: SQLite, which one gateway has to itself. */
  readonly database?: string
  readonly gateways: number
  readonly hosts: number
  readonly agents: number
  /** Settings of all of them besides ours. */
  readonly env?: Readonly<Record<string, string>>
  /** Left out: each is somebody else's program, which comes with its token. */
  readonly makeAgent?: (admin: Client) => Promise<AgentId>
}

/** Gateways on one database, hosts, and agents with a mount each: real programs that can be killed one by one. */
export class AgentsWorld implements AsyncDisposable {
  readonly folder: string
  readonly agents: SoakAgent[] = []
  readonly #options: AgentsWorldOptions
  readonly #env: Readonly<Record<string, string>>
  readonly #gateways: { readonly port: number; program?: Program }[] = []
  readonly #hosts: { program?: Program }[] = []
  #hostsStarted = 0

  private constructor(folder: string, options: AgentsWorldOptions) {
    this.folder = folder
    this.#options = options
    this.#env = {
      PARLEY_SECRET: randomBytes(SECRET_BYTES).toString('hex'),
      PARLEY_HOST_TOKEN: randomBytes(SECRET_BYTES).toString('hex'),
      PARLEY_GATE_DEFAULT: 'allow',
      PARLEY_LOG: 'warn',
      TMPDIR: folder,
      ...options.env,
      ...(options.database === undefined ? {} : { PARLEY_DATABASE_URL: options.database }),
    }
  }

  static async open(options: AgentsWorldOptions): Promise<AgentsWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-agents-'))
    const world = new AgentsWorld(folder, options)
    try {
      await world.#begin()
      return world
    } catch (error) {
      await world[Symbol.asyncDispose]()
      throw error
    }
  }

  async #begin(): Promise<void> {
    for (let index = 0; index < this.#options.gateways; index += 1) {
      this.#gateways.push({ port: await freePort() })
      await this.startGateway(index)
    }
    const { token } = await this.makeAdmin()
    const admin = await connectClient(httpTransport({ url: this.mcp(0), token }), {
      clientInfo: { name: 'soak', version: '1' },
      era: 'modern',
    })
    try {
      await admin.callTool('grant.set', { username: 'admin', unboxed: true })
      await mkdir(join(this.folder, 'effects'))
      const { makeAgent = external } = this.#options
      for (let made = 0; made < this.#options.agents; made += 1) {
        const agent_id = await makeAgent(admin)
        const file = join(this.folder, 'effects', agent_id)
        await writeFile(file, '')
        const args = [MOUNT, file]
        const server = { kind: 'stdio', command: process.execPath, args, place: { kind: 'host' } } as const
        await admin.callTool('mount.attach', { agent_id, name: MOUNT_NAME, server })
        const { token: own } = await admin.callTool('agent.token', { agent_id })
        this.agents.push({ id: agent_id, token: own, lines: () => linesOf(file), pids: () => pidsWith(file) })
      }
    } finally {
      await admin.close()
    }
    for (let index = 0; index < this.#options.hosts; index += 1) {
      this.#hosts.push({})
      await this.startHost(index)
    }
  }

  get gateways(): number {
    return this.#gateways.length
  }
  get hosts(): number {
    return this.#hosts.length
  }
  /** Where the store is, for whoever looks at it when nobody else has it. */
  get storeUrl(): string {
    return this.#options.database ?? `sqlite:${join(this.#data(0), 'parley.db')}`
  }

  url(gateway: number): string {
    return `http://127.0.0.1:${this.#gateways[gateway]?.port}`
  }
  mcp(gateway: number): string {
    return `${this.url(gateway)}/mcp`
  }
  ws(gateway: number): string {
    return `${this.url(gateway).replace(/^http/, 'ws')}/api/mcp/ws`
  }

  async startGateway(index: number): Promise<void> {
    const gateway = this.#gateways[index]
    if (gateway === undefined) throw new Error(`there is no gateway ${index}`)
    const args = ['gateway', '--data', this.#data(index), '--port', String(gateway.port), '--json']
    gateway.program = await startProgram([process.execPath, LAUNCHER, ...args], { env: this.#env })
  }

  async startHost(index: number): Promise<void> {
    const host = this.#hosts[index]
    if (host === undefined) throw new Error(`there is no host ${index}`)
    const file = join(this.folder, 'host-token')
    await writeFile(file, this.#env['PARLEY_HOST_TOKEN'] ?? '', { mode: 0o600 })
    const url = this.url(index % this.#gateways.length)
    const args = [
      'host',
      '--url',
      url,
      '--token-file',
      file,
      '--name',
      `host-${index}`,
      '--data',
      join(this.folder, `host-${index}`),
    ]
    this.#hostsStarted += 1
    // Programs of mounts get this variable: it tells one start of a host from the next.
    const env = { ...this.#env, LOGNAME: `host-${index}.${this.#hostsStarted}` }
    host.program = await startProgram([process.execPath, LAUNCHER, ...args, '--json'], { env })
  }

  /** The process alone, as the kernel would do it: whatever it started has to go by itself. */
  async killGateway(index: number): Promise<void> {
    await killAlone(this.#gateways[index]?.program)
  }
  async killHost(index: number): Promise<void> {
    await killAlone(this.#hosts[index]?.program)
  }

  /** What they said on standard error, for whoever wonders why something did not hold. */
  said(): string {
    return [...this.#gateways, ...this.#hosts].map(({ program }) => program?.stderr().slice(-2_000) ?? '').join('\n---\n')
  }

  /** Hosts first, politely. */
  async stop(): Promise<void> {
    await stopAll(this.#hosts)
    await stopAll(this.#gateways)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** A token of the admin: each of them is told apart by its id. */
  async makeAdmin(): Promise<z.infer<typeof MadeToken>> {
    const args = ['token', 'create', '--role', 'user', '--user', 'admin', '--json', '--data', this.#data(0)]
    return MadeToken.parse(JSON.parse(await outputOf(process.execPath, [LAUNCHER, ...args], this.#env)))
  }

  #data(gateway: number): string {
    return join(this.folder, `gateway-${gateway}`)
  }
}

const external = async (admin: Client): Promise<AgentId> => (await admin.callTool('agent.create', {})).agent_id

async function stopAll(started: readonly { readonly program?: Program }[]): Promise<void> {
  await Promise.all(started.flatMap(({ program }) => program?.stop() ?? []))
}

/** All that have this word among their arguments. */
function pidsWith(word: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(word) ? [Number(name)] : []
    } catch {
      // It ended while we looked.
      return []
    }
  })
}

function linesOf(file: string): readonly MountLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  // The last one may be in the middle of being written.
  return lines.slice(0, -1).map((line) => Line.parse(JSON.parse(line)))
}
