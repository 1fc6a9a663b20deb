import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputOf } from '../measure/output-of.ts'
import { type Program, startProgram } from '../measure/program.ts'

export const LAUNCHER = fileURLToPath(new URL('../../../../bin/parley.js', import.meta.url))

/** A gateway as a program of its own, on a folder of its own: it can be killed and started again where it was. */
export class GatewayProcess {
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-soak-'))
  readonly #env: Readonly<Record<string, string>>
  #gateway: Program | undefined
  #port = 0
  /** The token of an admin. */
  token = ''

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env
  }

  get port(): number {
    return this.#port
  }
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async open(): Promise<void> {
    await this.startGateway()
    this.token = await this.makeToken('admin', ['--role', 'user', '--user', 'admin'])
  }

  async startGateway(): Promise<void> {
    const options = ['--data', this.folder, '--port', String(this.#port), '--log', 'silent', '--json']
    this.#gateway = await startProgram([process.execPath, LAUNCHER, 'gateway', ...options], { env: this.#env })
    this.#port = Number(new URL(String(this.#gateway.ready['url'])).port)
  }

  async killGateway(): Promise<void> {
    this.#gateway?.kill('SIGKILL')
    await this.#gateway?.ended()
  }

  async close(): Promise<void> {
    await this.#gateway?.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** A token in a file of that name in the folder, and its text. */
  async makeToken(name: string, options: readonly string[]): Promise<string> {
    const file = join(this.folder, name)
    await outputOf(process.execPath, [LAUNCHER, 'token', 'create', ...options, '--data', this.folder, '--out', file])
    return readFileSync(file, 'utf8').trim()
  }
}
