import { createServer } from 'node:http'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { ratioOf, Rounds } from '../rounds.ts'
import { median, spread } from '../statistics.ts'
import { SeededRandom } from '../soak/random.ts'
import { malformedMessage } from '../soak/malformed-message.ts'
import { treeUse } from './process-tree.ts'
import { startProgram } from './program.ts'

test('medians and spreads of rounds', () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), spread([8, 10, 12])]).toEqual([2, 2.5, 0.4])
})

test('a ratio is the lower of the ratio of rates and that of processor time', () => {
  const rounds = new Rounds()
  for (const [target, rate, cpu] of [
    ['ours', 300, 10],
    ['theirs', 100, 20],
  ] as const) {
    rounds.add(target, 'rate_c32', 'calls/s', rate)
    rounds.add(target, 'cpu_c32', 'µs/call', cpu)
  }
  expect(ratioOf(rounds.rows(), 'ours', 'theirs', 'c32')).toBe(2)
  expect(ratioOf(rounds.rows(), 'ours', 'nobody', 'c32')).toBeUndefined()
})

test('a seed repeats its messages, and another seed does not', () => {
  const some = (seed: number): string[] => Array.from({ length: 50 }, (_, id) => malformedMessage(seed, id).bytes.toString('hex'))
  expect(some(1)).toEqual(some(1))
  expect(some(1)).not.toEqual(some(2))
  expect(new SeededRandom(5).bytes(8)).toEqual(new SeededRandom(5).bytes(8))
})

test('the time of a whole process tree is counted, also of children that have ended', async () => {
  const spin = 'const until = Date.now() + 300; while (Date.now() < until);'
  const parent = `require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(spin)}]); console.log('{}'); setInterval(() => {}, 1000)`
  const program = await startProgram([process.execPath, '-e', parent])
  try {
    const { cpuMs, processes } = await treeUse(program.pid)
    expect(processes).toBe(1)
    // The child alone was busy for 300 ms of its wall time; on a crowded machine it got a part of that.
    expect(cpuMs).toBeGreaterThan(50)
  } finally {
    await program.stop()
  }
})

test('a program that never becomes ready is an error that says what it said', async () => {
  await expect(startProgram([process.execPath, '-e', 'console.error("no luck"); process.exit(3)'])).rejects.toThrow('no luck')
})

test('a program is ready when its port answers, and gone after stop', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  probe.close()
  await once(probe, 'close')
  const program = await startProgram(
    [process.execPath, '-e', `require('node:http').createServer().listen(${port}, '127.0.0.1')`],
    { port },
  )
  await program.stop()
  expect(program.exited()).toBe(true)
})
