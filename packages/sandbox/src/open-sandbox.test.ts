import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunLimits, RunOutcome, RunRequest, RunStatus, Sandbox } from './index.ts'
import { ROOMY, type Scratch, scratch, shell, textOf } from './testing/scratch.ts'

let from: Scratch

beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

test('the first choice is our own helper, and the report says what holds', async () => {
  const { report } = await from.open({ driver: 'auto' })
  expect(report.driver).toBe('cage')
  expect(report.tier).toMatch(/^(namespaces(\+cgroup[12])?|landlock)$/)
  expect(Object.keys(report.enforced)).toEqual(
    expect.arrayContaining(['cpu', 'wall', 'memory', 'processes', 'output', 'files', 'network', 'system calls']),
  )
})

const drivers = (['bwrap', 'none'] as const).filter((driver) => driver !== 'bwrap' || existsSync('/usr/bin/bwrap'))

describe.each(drivers)('the driver %s', (driver) => {
  let sandbox: Sandbox
  let box: Box

  beforeAll(async () => {
    sandbox = await from.open({ driver, runFolder: join(from.folder, driver) })
    box = await sandbox.openBox({ kind: 'judge' })
  })
  afterAll(() => box.close())

  const uses = (words: readonly (string | number)[], limits: Partial<RunLimits> = {}): Promise<RunOutcome> =>
    box.run(from.request('uses', words, limits))

  test('says what it is and what it does not hold', () => {
    expect(sandbox.report).toMatchObject({ driver, tier: driver })
    expect(sandbox.report.missing).not.toEqual([])
  })

  test.each<[(string | number)[], Partial<RunLimits>, RunStatus]>([
    [['exit', 0], {}, 'ok'],
    [['exit', 3], {}, 'nonzero'],
    [['signal', 11], {}, 'signal'],
    [['spin', 20_000], { cpuMs: 300 }, 'cpu-limit'],
    [['forked-spin', 2, 20_000], { cpuMs: 300 }, 'cpu-limit'],
    [['sleep'], { wallMs: 200 }, 'wall-limit'],
    [['stubborn'], { wallMs: 200 }, 'wall-limit'],
    [['malloc'], {}, 'memory-limit'],
    [['output', -1], {}, 'output-limit'],
    [['forked-spin', 40, 20_000], { processes: 10 }, 'process-limit'],
  ])('%j with %j ends as it should', async (words, limits, status) => {
    const outcome = await uses(words, limits)
    expect(outcome.status).toBe(status)
  })

  test.each(['sockets', 'pipes', 'tables'])('too much memory in %s ends as it should', async (what) => {
    const limits = { memoryBytes: 64 * 1024 * 1024, openFiles: 1024, cpuMs: 20_000, wallMs: 60_000 }
    expect((await box.run(from.request('buffers', [what, 8, 50], limits))).status).toBe('memory-limit')
  })

  test('measures time, gives input, takes output, keeps files', async () => {
    const spun = await uses(['spin', 200])
    expect(Math.abs(spun.cpuMs - 200)).toBeLessThan(50)
    const counted = await box.run({
      ...from.request('uses', ['counts-stdin']),
      stdin: { kind: 'bytes', bytes: Buffer.alloc(200_000) },
    })
    expect(textOf(counted)).toBe('200000\n')
    const to = join(from.folder, `kept-${driver}`)
    const kept = await box.run({
      ...shell('echo result > r; ln -s /etc/passwd l'),
      keep: [
        { name: 'r', to, limitBytes: 100 },
        { name: 'l', to: `${to}-link`, limitBytes: 10_000 },
      ],
    })
    expect(kept).toMatchObject({ kept: ['r'], message: 'l was not kept: it is not a plain file' })
    expect(await readFile(to, 'utf8')).toBe('result\n')
  })

  test('two programs can talk', async () => {
    await using other = await sandbox.openBox({ kind: 'judge' })
    const outcome = await sandbox.interact(box, other, {
      program: { argv: ['/bin/bash', '-c', 'while read n; do echo $((n * 2)); done'], limits: ROOMY },
      interactor: { argv: ['/bin/bash', '-c', 'for i in 1 2 3; do echo $i; read a; echo $a >&2; done'], limits: ROOMY },
      captureBytes: 100,
    })
    expect([outcome.program.status, outcome.interactor.status, Buffer.from(outcome.interactor.stderr.bytes).toString()]).toEqual([
      'ok',
      'ok',
      '2\n4\n6\n',
    ])
  })

  test('of two programs one may be over before the other has begun, or never begin', async () => {
    await using other = await sandbox.openBox({ kind: 'judge' })
    const program: RunRequest = { argv: ['/bin/true'], limits: ROOMY }
    const talk = (interactor: RunRequest) => sandbox.interact(box, other, { program, interactor, captureBytes: 100 })
    // Long after the first one has ended.
    const slow = Array.from({ length: 2_000 }, (_, at) => ({ name: `f${at}`, from: { bytes: Buffer.of(1) } }))
    const late = await talk({ ...shell('cat; echo late >&2'), files: slow })
    expect([late.program.status, late.interactor.status, Buffer.from(late.interactor.stderr.bytes).toString()]).toEqual([
      'ok',
      'ok',
      'late\n',
    ])
    const missing = { name: 'f', from: { path: join(from.folder, 'not-there') } }
    const never = await talk({ ...shell('true'), files: [missing] })
    expect([never.program.status, never.interactor.status]).toEqual(['ok', 'sandbox-error'])
  })

  test('aborting kills, and nothing is left behind', async () => {
    const abort = new AbortController()
    const outcome = await box.run({ ...shell('echo up; sleep 100'), onOutput: () => abort.abort() }, abort.signal)
    expect(outcome).toMatchObject({ status: 'signal', signal: 'SIGKILL' })
    expect(await readdir(join(from.folder, driver))).toEqual([])
  })

  test.runIf(driver === 'bwrap')('the host is out of reach', async () => {
    const secret = join(from.folder, 'secret')
    await writeFile(secret, 'secret')
    const outcome = await box.run(
      shell(
        `cat ${secret} /etc/shadow; ls /root /home; touch /usr/x; cat /proc/net/dev | tail -n +3 | grep -v lo:; ls /proc | grep -c '^[0-9]'`,
      ),
    )
    // Nothing but the number of processes in sight.
    expect(textOf(outcome)).toMatch(/^[1-9]\n$/)
  })
})
