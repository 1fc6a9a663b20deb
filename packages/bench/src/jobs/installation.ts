import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@parley/protocol'
import { type Client, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import * as z from 'zod'
import { outputOf } from '../measure/output-of.ts'
import { type Program, freePort, killAlone, startProgram } from '../measure/program.ts'

const LAUNCHER = fileURLToPath(new URL('../../../../bin/parley.js', import.meta.url))
const SECRET_BYTES = 32

export interface InstallationOptions {
  readonly database?: string
  readonly leaseMs: number
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>
}

/** A gateway and judges as an operator runs them: real processes of the real program, on a folder that goes away with them. */
export class Installation implements AsyncDisposable {
  readonly folder: string
  readonly url: string
  readonly #port: number
  readonly #env: Readonly<Record<string, string>>
  #token = ''
  #gateway: Program | undefined
  #judges = new Map<string, Program>()
  #started = 0

  private constructor(folder: string, port: number, options: InstallationOptions) {
    this.folder = folder
    this.#port = port
    this.url = `http://127.0.0.1:${port}`
    this.#env = {
      PARLEY_SECRET: randomBytes(SECRET_BYTES).toString('hex'),
      PARLEY_JUDGE_TOKEN: randomBytes(SECRET_BYTES).toString('hex'),
      PARLEY_JUDGE_LEASE_MS: String(options.leaseMs),
      PARLEY_LOG: 'warn',
      TMPDIR: folder,
      // So that what runs from there is known to be ours.
      PARLEY_CACHE: join(folder, 'cache'),
      ...(options.database === undefined ? {} : { PARLEY_DATABASE_URL: options.database }),
      ...options.env,
    }
  }

  static async open(options: InstallationOptions): Promise<Installation> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-jobs-'))
    const made = new Installation(folder, await freePort(), options)
    await made.startGateway()
    const args = ['token', 'create', '--role', 'user', '--user', 'admin', '--json', '--data', made.#data]
    const printed = await outputOf(process.execPath, [LAUNCHER, ...args], made.#env)
    made.#token = z.object({ token: z.string() }).parse(JSON.parse(printed)).token
    return made
  }

  /** Where its judges unpack jobs. */
  get workFolder(): string {
    return join(this.#data, 'judge')
  }

  /** The names under which judges were started and are thought to run. */
  get judges(): readonly string[] {
    return [...this.#judges.keys()]
  }

  async startGateway(): Promise<void> {
    const args = ['gateway', '--data', this.#data, '--port', String(this.#port), '--json']
    this.#gateway = await startProgram([process.execPath, LAUNCHER, ...args], { env: this.#env })
  }

  /** `kill -9` of the process alone, as the kernel would do it: whatever it started has to go by itself. */
  async killGateway(): Promise<void> {
    await killAlone(this.#gateway)
    this.#gateway = undefined
  }

  async startJudge(slots: number): Promise<string> {
    this.#started += 1
    const name = `judge-${this.#started}`
    const tokenFile = join(this.folder, 'judge-token')
    await writeFile(tokenFile, this.#env['PARLEY_JUDGE_TOKEN'] ?? '', { mode: 0o600 })
    // One of them over HTTP, the next over a WebSocket.
    const url = this.#started % 2 === 0 ? this.url : this.url.replace(/^http/, 'ws')
    const args = ['--url', url, '--token-file', tokenFile, '--name', name, '--slots', String(slots), '--data', this.#data]
    const judge = await startProgram([process.execPath, LAUNCHER, 'judge', ...args, '--json'], { env: this.#env })
    this.#judges.set(name, judge)
    return name
  }

  async killJudge(name: string): Promise<void> {
    await killAlone(this.#judges.get(name))
    this.#judges.delete(name)
  }

  connect(): Promise<Client> {
    const transport = httpTransport({ url: `${this.url}/mcp`, token: this.#token })
    return connectClient(transport, { clientInfo: { name: 'bench', version: '1' }, era: 'modern' })
  }

  /** A user on a socket, who hears what is sent to them. */
  dial(heard: (method: string, params: JsonObject) => void): Promise<Client> {
    return this.#dial(this.#token, heard)
  }

  /** Somebody with the judge's token, on a socket. */
  dialAsJudge(): Promise<Client> {
    return this.#dial(this.#env['PARLEY_JUDGE_TOKEN'] ?? '', () => {})
  }

  #dial(token: string, onNotification: (method: string, params: JsonObject) => void): Promise<Client> {
    const transport = webSocketTransport({ url: `${this.url.replace(/^http/, 'ws')}/api/mcp/ws`, token })
    return connectClient(transport, { clientInfo: { name: 'bench', version: '1' }, era: 'legacy', onNotification })
  }

  /** Judges first, politely, so that what they leave behind is theirs to answer for. */
  async stop(): Promise<void> {
    await Promise.all([...this.#judges.values()].map((judge) => judge.stop()))
    this.#judges.clear()
    await this.#gateway?.stop()
    this.#gateway = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  get #data(): string {
    return join(this.folder, 'data')
  }
}
