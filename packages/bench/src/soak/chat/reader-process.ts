import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import type { Tally } from '../../soak.ts'
import type { AgentsWorld, SoakAgent } from '../agents/agents-world.ts'
import type { AdminDesk } from '../approvals/admin-desk.ts'
import { LAUNCHER } from '../gateway-process.ts'
import type { SeededRandom } from '../random.ts'
import type { ReaderLife } from './check-chat.ts'

const RETRY_MS = 200
const KEPT_STDERR_CHARS = 2_000
const Line = z.object({ message: z.object({ id: z.number(), text: z.string() }) })

interface ReaderParts {
  readonly world: AgentsWorld
  readonly agent: SoakAgent
  readonly desk: AdminDesk
  readonly random: SeededRandom
  readonly tally: Tally
}

interface Life extends ReaderLife {
  readonly told: { readonly id: number; readonly text: string }[]
}

/** Somebody who follows a chat with `parley agent chat`, in a process that is killed and started again where its reader was marked. */
export class ReaderProcess {
  readonly name: string
  readonly lives: Life[] = []
  readonly #parts: ReaderParts
  readonly #ended = new AbortController()
  #child: ChildProcess | undefined
  #isKilled = false
  #running: Promise<void> = Promise.resolve()
  lastError = ''

  constructor(name: string, parts: ReaderParts) {
    this.name = name
    this.#parts = parts
  }

  /** The newest message that it has told. */
  get place(): number {
    return this.lives.reduce((place, { told }) => Math.max(place, told.at(-1)?.id ?? 0), 0)
  }

  start(): void {
    this.#running = this.#run()
  }

  kill(): void {
    this.#isKilled = true
    this.#child?.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    this.#child?.kill('SIGKILL')
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const marked = await this.#marked()
      if (marked === undefined) await wait(RETRY_MS)
      else await this.#live({ marked, told: [] })
    }
  }

  async #marked(): Promise<number | undefined> {
    const { desk, random, agent } = this.#parts
    const asked = { agent_id: agent.id, reader: this.name, read_to: 0 }
    return desk.callAny(random, 'chat.mark_read', asked).then(
      ({ marker }) => marker.read_to,
      () => undefined,
    )
  }

  async #live(life: Life): Promise<void> {
    const { world, agent, desk, random, tally } = this.#parts
    const file = join(world.folder, `${this.name}-token`)
    await writeFile(file, desk.token, { mode: 0o600 })
    if (this.#ended.signal.aborted) return
    const where = ['--url', world.url(random.between(0, world.gateways - 1)), '--token-file', file]
    const args = ['agent', 'chat', agent.id, '--json', '--unread', '--follow', '--reader', this.name, ...where]
    this.#isKilled = false
    const child = spawn(process.execPath, [LAUNCHER, ...args], { stdio: ['ignore', 'pipe', 'pipe'], cwd: world.folder })
    this.#child = child
    this.lives.push(life)
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said = `${said}${chunk}`.slice(-KEPT_STDERR_CHARS)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { success, data } = Line.safeParse(parsed(line))
      // A line that was cut by the kill was not told.
      if (success) life.told.push(data.message)
      else if (!this.#isKilled) tally.problem(`${this.name} told ${line}`)
    })
    await once(child, 'close')
    if (this.#isKilled || this.#ended.signal.aborted) return
    // It begins at once or not at all; once it has told something it comes back by itself.
    this.lastError = said
    tally.count('readers that found no gateway')
    if (life.told.length > 0) tally.problem(`${this.name} gave up: ${said}`)
    await wait(RETRY_MS)
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
