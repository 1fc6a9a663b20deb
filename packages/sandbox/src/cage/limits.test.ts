import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunLimits, RunOutcome, RunStatus } from '../index.ts'
import { type Scratch, scratch, textOf } from '../testing/scratch.ts'

const MIB = 1024 * 1024
const CPU_SLACK_MS = 60

let from: Scratch
let box: Box
let counted: boolean

beforeAll(async () => {
  from = await scratch()
  const sandbox = await from.open()
  counted = sandbox.report.tier.includes('cgroup')
  box = await sandbox.openBox({ kind: 'judge' })
})
afterAll(async () => {
  await box.close()
  await from[Symbol.asyncDispose]()
})

const uses = (words: readonly (string | number)[], limits: Partial<RunLimits> = {}): Promise<RunOutcome> =>
  box.run(from.request('uses', words, limits))

describe('how a program ended', () => {
  test.each<[string, (string | number)[], Partial<RunOutcome>]>([
    ['by itself', ['exit', 0], { status: 'ok', exitCode: 0, signal: null }],
    ['by itself, unhappy', ['exit', 3], { status: 'nonzero', exitCode: 3, signal: null }],
    ['with the last code there is', ['exit', 255], { status: 'nonzero', exitCode: 255, signal: null }],
    ['by a fault', ['signal', 11], { status: 'signal', exitCode: null, signal: 'SIGSEGV' }],
    ['by its own abort', ['signal', 6], { status: 'signal', exitCode: null, signal: 'SIGABRT' }],
    ['by a signal without a name', ['signal', 40], { status: 'signal', exitCode: null, signal: 'SIG40' }],
    ['by a signal that it sent itself', ['signal', 9], { status: 'signal', exitCode: null, signal: 'SIGKILL' }],
    ['by the signal of the time limit', ['signal', 24], { status: 'signal', exitCode: null, signal: 'SIGXCPU' }],
    ['by the signal of the file size limit', ['signal', 25], { status: 'signal', exitCode: null, signal: 'SIGXFSZ' }],
    ['with endless recursion', ['recurse', 900_000_000], { status: 'signal', exitCode: null, signal: 'SIGSEGV' }],
  ])('%s', async (_, words, expected) => {
    expect(await uses(words)).toMatchObject(expected)
  })

  test('a program that is not there is our failure, with the reason', async () => {
    expect(await box.run({ ...from.request('uses', []), argv: ['./nothing'] })).toMatchObject({
      status: 'sandbox-error',
      exitCode: null,
      signal: null,
      message: 'the program cannot be started: No such file or directory',
    })
  })

  test('a file that is no program is our failure too', async () => {
    const outcome = await box.run({
      ...from.request('uses', []),
      argv: ['./text'],
      files: [{ name: 'text', from: { bytes: Buffer.from('no program') }, executable: true }],
    })
    expect(outcome).toMatchObject({ status: 'sandbox-error', message: 'the program cannot be started: Exec format error' })
  })
})

describe('CPU time', () => {
  test('is what the program itself measures', async () => {
    const outcome = await uses(['spin', 150])
    expect(outcome.status).toBe('ok')
    expect(Math.abs(outcome.cpuMs - Number(textOf(outcome)) / 1000)).toBeLessThan(10)
  })

  test.each<[string, (string | number)[]]>([
    ['a loop', ['spin', 5000]],
    ['forked children together', ['forked-spin', 3, 5000]],
  ])('%s is stopped at the limit', async (_, words) => {
    const outcome = await uses(words, { cpuMs: 300 })
    expect(outcome).toMatchObject({ status: 'cpu-limit', exitCode: null, signal: 'SIGKILL' })
    expect(outcome.cpuMs).toBeGreaterThanOrEqual(295)
    expect(outcome.cpuMs).toBeLessThan(300 + CPU_SLACK_MS)
  })

  test('of children that nobody waits for counts', async () => {
    expect((await uses(['unwaited-spin', 6, 100], { cpuMs: 300 })).status).toBe('cpu-limit')
    const within = await uses(['unwaited-spin', 3, 50], { cpuMs: 1000 })
    expect(within.status).toBe('ok')
    expect(within.cpuMs).toBeGreaterThan(100)
  })

  test('of forked children is in the figure', async () => {
    const outcome = await uses(['forked-spin', 4, 50])
    expect(outcome.status).toBe('ok')
    expect(outcome.cpuMs).toBeGreaterThan(195)
  })
})

describe('the clock', () => {
  test.each([['sleep'], ['stubborn']])('ends a program that does nothing (%s)', async (what) => {
    const outcome = await uses([what], { wallMs: 250 })
    expect(outcome).toMatchObject({ status: 'wall-limit', exitCode: null, signal: 'SIGKILL' })
    expect(outcome.wallMs).toBeGreaterThanOrEqual(249)
    expect(outcome.cpuMs).toBeLessThan(100)
  })
})

describe('memory', () => {
  test('is measured as the kernel measures it', async () => {
    const [small, large] = [await uses(['hog', 10]), await uses(['hog', 100])]
    expect(large.status).toBe('ok')
    expect(Math.abs(large.memoryBytes - small.memoryBytes - 90 * MIB)).toBeLessThan(MIB)
    expect(small.memoryBytes).toBeLessThan(13 * MIB)
  })

  test.each<[string, (string | number)[], RunStatus]>([
    ['just below the limit', ['hog', 124], 'ok'],
    ['just above the limit', ['hog', 130], 'memory-limit'],
    ['far above it', ['hog', 4000], 'memory-limit'],
    ['shared memory', ['shared-hog', 1000], 'memory-limit'],
    ['without end', ['malloc'], 'memory-limit'],
    ['three children within it', ['forked-hog', 3, 30], 'ok'],
    ['three children above it together', ['forked-hog', 3, 60], 'memory-limit'],
    ['a large array of which little is touched', ['bss', 10], 'ok'],
    ['a large array touched', ['bss', 500], 'memory-limit'],
    ['deep recursion', ['recurse', 90_000], 'ok'],
    ['children that only have what their parent has', ['forked-same', 100, 4], 'ok'],
    ['a child that stands in its parent’s memory', ['vforked-same', 100, 2], 'ok'],
  ])('%s', async (_, words, status) => {
    const outcome = await uses(words)
    expect(outcome.status).toBe(status)
    // What it got beyond the limit before it was ended is chance: the figure stops at the limit.
    if (status === 'memory-limit') expect(outcome.memoryBytes).toBe(128 * MIB)
  })
})

describe('output', () => {
  test.each([
    [1, 'stdout'],
    [2, 'stderr'],
  ] as const)('on descriptor %i is cut at the very byte', async (descriptor, stream) => {
    const exact = await uses(['output', 100_000, descriptor], { outputBytes: 100_000 })
    expect([exact.status, exact[stream].totalBytes]).toEqual(['ok', 100_000])
    const over = await uses(['output', -1, descriptor], { outputBytes: 100_000 })
    expect([over.status, over.signal, over[stream].totalBytes]).toEqual(['output-limit', 'SIGKILL', 100_000])
  })

  test('comes back as far as was asked for, and is counted in full', async () => {
    const outcome = await box.run({ ...from.request('uses', ['output', 3_000_000]), captureBytes: { stdout: 1000, stderr: 0 } })
    expect([outcome.status, outcome.stdout.bytes.length, outcome.stdout.totalBytes]).toEqual(['ok', 1000, 3_000_000])
    const whole = await box.run({
      ...from.request('uses', ['output', 3_000_000]),
      captureBytes: { stdout: 4_000_000, stderr: 0 },
    })
    expect(Buffer.from(whole.stdout.bytes).equals(Buffer.alloc(3_000_000, 'x'))).toBe(true)
  })
})

describe('processes', () => {
  test('as many as allowed, the first included', async () => {
    expect(textOf(await uses(['forks', 7], { processes: 8 }))).toBe('7\n')
    expect(textOf(await uses(['threads', 7], { processes: 8 }))).toBe('7\n')
  })

  test.each([['forks'], ['threads-stay']])('too many (%s)', async (what) => {
    const outcome = await uses([what, 20], { processes: 8 })
    expect(outcome.status).toBe('process-limit')
    // A cgroup lets none be born. It may or may not come to say how many it has.
    if (counted) expect(textOf(outcome).trim() || '7').toBe('7')
  })

  test('a fork bomb', async () => {
    expect(await uses(['fork-bomb'], { cpuMs: 2000, wallMs: 60_000 })).toMatchObject({
      status: 'process-limit',
      signal: 'SIGKILL',
    })
  })

  test('a daemon dies with its run', async () => {
    const outcome = await uses(['daemon'])
    expect([outcome.status, textOf(outcome)]).toEqual(['ok', 'gone\n'])
  })
})

describe('files', () => {
  test('fill the box and no more', async () => {
    expect(textOf(await uses(['disk']))).toBe('short after 15 MiB\n')
    expect(textOf(await uses(['disk', 1]))).toBe('No space left on device after 16 MiB\n')
  })

  test('are bounded in number', async () => {
    expect(textOf(await uses(['inodes']))).toBe('No space left on device\n')
  })

  test('open at once are bounded', async () => {
    expect(textOf(await uses(['files'], { openFiles: 20 }))).toBe('20\n')
  })
})
