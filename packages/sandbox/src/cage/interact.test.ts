import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, InteractOutcome, RunLimits, Sandbox, SandboxOptions } from '../index.ts'
import { ROOMY, type Scratch, scratch } from '../testing/scratch.ts'

const KINDS: readonly [string, Pick<SandboxOptions, 'tier'>][] = [
  ['the strongest tier', {}],
  ['user namespaces', { tier: 'user-namespaces' }],
  ['Landlock', { tier: 'landlock' }],
]
describe.each(KINDS)('%s', (_name, kind) => {
  let from: Scratch
  let sandbox: Sandbox
  let program: Box
  let interactor: Box

  beforeAll(async () => {
    from = await scratch()
    sandbox = await from.open({ ...kind, driver: 'cage', runFolder: join(from.folder, kind.tier ?? 'strongest') })
    ;[program, interactor] = await Promise.all([sandbox.openBox({ kind: 'judge' }), sandbox.openBox({ kind: 'judge' })])
  })
  afterAll(async () => {
    await Promise.all([program.close(), interactor.close()])
    await from[Symbol.asyncDispose]()
  })

  function both(one: string, other: string, limits: Partial<RunLimits> = {}, signal?: AbortSignal): Promise<InteractOutcome> {
    const request = (command: string, own: Partial<RunLimits>) => ({
      argv: ['/bin/bash', '-c', command] as const,
      limits: { ...ROOMY, ...own },
    })
    const joined = { program: { ...request(one, limits) }, interactor: { ...request(other, {}) }, captureBytes: 1000 }
    return sandbox.interact(
      program,
      interactor,
      {
        ...joined,
        program: { ...joined.program, argv: ['/bin/bash', '-c', one] },
        interactor: { ...joined.interactor, argv: ['/bin/bash', '-c', other] },
      },
      signal,
    )
  }

  const words = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

  test('what one says the other hears, back and forth', async () => {
    const outcome = await both(
      'while read n; do [ "$n" = end ] && exit 0; echo $((n * 2)); done',
      'for i in 1 2 3 4 5; do echo $i; read answer; echo "$answer" >&2; done; echo end',
    )
    expect([outcome.program.status, outcome.interactor.status]).toEqual(['ok', 'ok'])
    expect(words(outcome.interactor.stderr.bytes)).toBe('2\n4\n6\n8\n10\n')
    expect([outcome.program.stdout.totalBytes, outcome.interactor.stdout.totalBytes]).toEqual([11, 14])
  })

  test('the end of one is the end of the other’s input', async () => {
    const outcome = await both('echo 42', 'read answer; echo "$answer" >&2; read more || echo closed >&2; sleep 0.1; exit 3')
    expect(outcome).toMatchObject({
      program: { status: 'ok' },
      interactor: { status: 'nonzero', exitCode: 3 },
      endedFirst: 'program',
    })
    expect(words(outcome.interactor.stderr.bytes)).toBe('42\nclosed\n')
  })

  test('a partner that is gone breaks the pipe, and it is known who went first', async () => {
    const outcome = await both('sleep 0.3; for i in 1 2 3 4 5 6 7 8 9; do /bin/echo talk || exit 5; sleep 0.05; done', 'exit 1')
    expect(outcome).toMatchObject({ interactor: { status: 'nonzero', exitCode: 1 }, endedFirst: 'interactor' })
    expect(outcome.program.status).not.toBe('ok')
  })

  test('an interactor goes on when the program has ended, and what it says then is lost', async () => {
    // It speaks until the pipe has been without a reader for longer than anybody waits, and more than a pipe holds.
    const outcome = await both('exit 0', 'cat > /dev/null; sleep 0.3; head -c 200000 /dev/zero && echo said >&2; exit 7')
    expect(outcome).toMatchObject({ interactor: { status: 'nonzero', exitCode: 7 }, endedFirst: 'program' })
    expect(words(outcome.interactor.stderr.bytes)).toBe('said\n')
    expect(outcome.interactor.stdout.totalBytes).toBe(200_000)
  })

  test('much can be said, and all of it arrives', async () => {
    const outcome = await both('head -c 2000000 /dev/zero', 'sleep 0.2; wc -c >&2')
    expect([outcome.program.status, words(outcome.interactor.stderr.bytes)]).toEqual(['ok', '2000000\n'])
    expect(outcome.program.stdout.totalBytes).toBe(2_000_000)
  })

  test('each is limited by itself', async () => {
    expect(await both('while :; do :; done', 'cat > /dev/null', { cpuMs: 200 })).toMatchObject({
      program: { status: 'cpu-limit' },
      interactor: { status: 'ok' },
    })
    expect(await both('sleep 100', 'cat > /dev/null', { wallMs: 200 })).toMatchObject({
      program: { status: 'wall-limit' },
      interactor: { status: 'ok' },
    })
    expect(await both('yes', 'cat > /dev/null', { outputBytes: 5000 })).toMatchObject({
      program: { status: 'output-limit', stdout: { totalBytes: 5000 } },
      interactor: { status: 'ok' },
    })
  })

  test('two that wait for each other are ended by the clock', async () => {
    const outcome = await both('read a', 'read b', { wallMs: 200 })
    expect(outcome).toMatchObject({ program: { status: 'wall-limit' }, endedFirst: 'program' })
  })

  test('aborting ends both', async () => {
    const abort = new AbortController()
    let up = 0
    const side = {
      argv: ['/bin/bash', '-c', 'echo up >&2; sleep 100'],
      limits: ROOMY,
      onOutput: () => {
        up += 1
        if (up === 2) abort.abort()
      },
    } as const
    const outcome = await sandbox.interact(
      program,
      interactor,
      { program: side, interactor: side, captureBytes: 100 },
      abort.signal,
    )
    expect([outcome.program.status, outcome.interactor.status]).toEqual(['signal', 'signal'])
  })

  test('a program that cannot start ends the conversation', async () => {
    const outcome = await sandbox.interact(program, interactor, {
      program: { argv: ['./missing'], limits: ROOMY },
      interactor: { argv: ['/bin/cat'], limits: ROOMY },
      captureBytes: 100,
    })
    expect(outcome).toMatchObject({ program: { status: 'sandbox-error' }, interactor: { status: 'ok' }, endedFirst: 'program' })
  })

  test('the boxes can be used as before afterwards', async () => {
    expect((await program.run({ argv: ['/bin/true'], limits: ROOMY })).status).toBe('ok')
    expect((await both('echo 1', 'read a')).interactor.status).toBe('ok')
  })
})
