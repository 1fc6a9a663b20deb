import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { AgentBench } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

const TEXT = readFileSync(join(import.meta.dirname, '../../../../docs/mcp-architecture.md'), 'utf8')
const ADDRESS = 'http://127.0.0.1:7400'
const BLOCKS = [...TEXT.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)

test('what docs/mcp-architecture.md sends by hand hears of a change, in both eras', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  const agent_id = await bench.agent('mine', {})
  const { token } = await bench.gateway.call('token.create', { role: 'user', username: 'admin' })
  expect(BLOCKS).toHaveLength(2)
  for (const [index, block] of BLOCKS.entries()) {
    await using reader = byHand(block.replaceAll(ADDRESS, bench.gateway.url), token)
    // Until it listens a change may go by, so there is one more and one more.
    await expect
      .poll(
        async () => {
          await bench.gateway.call('agent.update', { agent_id, instructions: `change ${index} ${performance.now()}` })
          return reader.said()
        },
        { timeout: 60_000 },
      )
      .toMatch(/"method":"notifications\/resources\/updated".*"resource:\/\/agents\/list"/)
  }
})

/** Runs a block of the document as a reader would, until it is disposed of. */
function byHand(block: string, token: string): { said: () => string } & AsyncDisposable {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn('sh', ['-c', block], {
    env: { ...process.env, TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const exits = once(child, 'close')
  return {
    said: () => said,
    [Symbol.asyncDispose]: async () => {
      // The shell and its curl: they are one group.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await exits
    },
  }
}
