import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openStore } from '@parley/store'
import { ENGINES, startEngine } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { CallChain } from './call-chain.ts'
import { verifyCalls } from './verify-calls.ts'

const WRITER = fileURLToPath(new URL('fixture/chain-writer.ts', import.meta.url))
const NAME = 'agent/one/calls'
const KEY = Buffer.alloc(32, 9)
const ROUNDS = 6
/** Rolls about every thirty appends. */
const LOG_BYTES = 8_192

/** Where the log ended by the last append that it heard of before the kill. */
async function writeUntilKilled(url: string, appends: number): Promise<number> {
  const writer = spawn(process.execPath, [WRITER, url, NAME, KEY.toString('hex')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => writer.once('close', (_, signal) => resolve(signal)))
  const heard: number[] = []
  for await (const line of createInterface({ input: writer.stdout })) {
    heard.push(Number(line))
    if (heard.length === appends) writer.kill('SIGKILL')
  }
  expect(await ended).toBe('SIGKILL')
  return heard.at(-2) ?? 0
}

test.each(ENGINES)(
  'kill -9 in the middle of appends and of rolling leaves a chain that is proved, on %s',
  { timeout: 300_000 },
  async (engine) => {
    await using host = await startEngine(engine)
    const url = await host.migratedUrl()
    const first = await openStore({ url })
    await first.logs.create(NAME, { maxBytes: LOG_BYTES })
    await first.close()
    for (let round = 0; round < ROUNDS; round += 1) {
      const heard = await writeUntilKilled(url, 200 + round * 37)
      const store = await openStore({ url })
      try {
        const options = {
          logs: store.logs,
          chain: new CallChain(KEY),
          name: NAME,
          seq: 0,
          maxBytes: LOG_BYTES * 2,
          maxFaults: 10,
        }
        const { lines, faults, next } = await verifyCalls(options)
        expect({ faults, next }).toEqual({ faults: [], next: null })
        expect(lines).toBeGreaterThan(50)
        expect((await store.logs.start(NAME)).offset).toBeGreaterThan(0)
        expect((await store.logs.end(NAME)).offset).toBeGreaterThanOrEqual(heard)
      } finally {
        await store.close()
      }
    }
  },
)
