import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type TokenUsage, NO_TOKENS, TokenUsage as Usage, addTokens } from '@parley/protocol'
import { expect, test } from 'vitest'
import { byTurn, openModelServer } from '@parley/agent/testing/model-server'
import { entriesOf } from './fixture/mini-talk.ts'

const MAIN = join(import.meta.dirname, 'fixture/converse-main.ts')
const STEPS = 12
const ROUNDS = 3
const KILLS = 3
/** A process is killed in the middle of one of its first steps: together they are fewer than there are. */
const STEPS_MAX = 3
const JITTER_MS = 5

const step = (number: number) => ({
  pieces: [
    { reasoning: `step ${number}`, encrypted: `sealed ${number}` },
    { call: 'shell', arguments: { command: ['sh', '-c', `echo ${number} >> made`], workdir: null, timeout_ms: null } },
    { call: 'contract_echo', arguments: { text: `echo ${number}` } },
  ],
})

test('a conversation killed at any moment goes on in another process, and no call is made twice', async () => {
  const answers = [...Array.from({ length: STEPS }, (_, index) => step(index)), { pieces: [{ text: 'done' }] }]
  await using server = await openModelServer({ wire: 'responses', answers: byTurn('responses', answers) })
  let killedInside = 0
  for (let round = 0; round < ROUNDS; round++) {
    const folder = await mkdtemp(join(tmpdir(), 'killed-'))
    try {
      let id: string | null = null
      for (let kill = 0; kill < KILLS; kill++) {
        const asked = server.requests.length
        const child = new Child({ folder, url: server.url, id })
        id = await child.opened
        await Promise.race([server.arrived(asked + 1 + randomInt(STEPS_MAX)), child.ended])
        await sleep(Math.random() * JITTER_MS)
        if (await child.kill()) killedInside += 1
      }
      if (id === null) throw new TypeError('nothing was opened')
      const last = new Child({ folder, url: server.url, id })
      expect(await last.opened).toBe(id)
      const { end, total } = await last.ended
      expect(end).toEqual({ kind: 'completed', message: 'done' })
      const entries = entriesOf(folder, id)
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      const booked = entries.filter(({ type }) => type === 'usage').map(({ usage }) => Usage.parse(usage))
      expect(total).toEqual(booked.reduce<TokenUsage>((sum, usage) => addTokens(sum, usage), NO_TOKENS))
      const made = (await readFile(join(folder, 'made'), 'utf8')).trim().split('\n')
      expect(new Set(made).size).toBe(made.length)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  expect(server.violations).toEqual([])
  expect(killedInside).toBeGreaterThan(0)
}, 300_000)

interface Ended {
  readonly end: unknown
  readonly total: unknown
}

/** The conversation's process. */
class Child {
  readonly #process: ChildProcess
  readonly opened: Promise<string>
  readonly ended: Promise<Ended>
  #hasEnded = false

  constructor(options: { readonly folder: string; readonly url: string; readonly id: string | null }) {
    const child = spawn(process.execPath, [MAIN, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process = child
    const lines = createInterface({ input: child.stdout })
    const line = (word: string): Promise<string> =>
      new Promise((resolve, reject) => {
        lines.on('line', (text) => {
          if (text.startsWith(word)) resolve(text.slice(word.length + 1))
        })
        child.once('exit', (code) => reject(new Error(`the process ended with ${code ?? 'a signal'} before it said ${word}`)))
      })
    this.opened = line('opened')
    this.ended = line('ended').then((text): Ended => {
      this.#hasEnded = true
      return JSON.parse(text)
    })
    this.ended.catch(() => undefined)
  }

  /** True: the turn was under way. */
  async kill(): Promise<boolean> {
    const wasInside = !this.#hasEnded
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return false
    const exit = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exit
    return wasInside
  }
}
