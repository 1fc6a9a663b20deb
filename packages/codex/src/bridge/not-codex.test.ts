import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import type { StartCodex } from '@parley/contracts'
import { openBridge } from './open-bridge.ts'

/** A program under the name of Codex. */
function program(...[command, ...args]: readonly [string, ...string[]]) {
  const started: number[] = []
  const start: StartCodex = () => {
    const child = spawn(command, args, { stdio: 'pipe' })
    const { pid = 0, stdin, stdout, stderr } = child
    started.push(pid)
    const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    )
    const stop = (): Promise<unknown> => {
      child.kill('SIGKILL')
      return exited
    }
    return Promise.resolve({ pid, stdin, stdout, stderr, exited, stderrTail: () => '', stop })
  }
  return { start, started }
}

const open = (start: StartCodex, warnings: string[], greetMs: number) =>
  openBridge({
    start,
    version: '0.166.0',
    client: { name: 'test', version: '1' },
    warn: (message) => void warnings.push(message),
    now: Date.now,
    random: (bytes) => new Uint8Array(bytes),
    limits: { greetMs },
  })

test('a program that talks without end and says no protocol is given up, and does not fill the log', async () => {
  const warnings: string[] = []
  const { start, started } = program('yes')
  await expect(open(start, warnings, 30_000)).rejects.toThrow('Codex did not come up: what it says is no protocol')
  expect(warnings.length).toBeLessThanOrEqual(32 * started.length)
  expect(warnings.at(-1)).toContain('no more of these is told')
})

test('a program that says nothing is waited for once', async () => {
  const { start, started } = program('sleep', '600')
  await expect(open(start, [], 50)).rejects.toThrow('Codex did not come up: it did not say hello within 50 ms')
  expect(started).toHaveLength(1)
})
