import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, BoxFile, RunLimits, RunOutcome, RunRequest } from '../index.ts'
import { type Scratch, scratch, textOf } from '../testing/scratch.ts'

const MIB = 1024 * 1024
const PLACED_MIB = 24
/** Its number, which Python does not know. */
const SYS_SECCOMP = process.arch === 'arm64' ? 277 : 317
const TIERS = (['root', 'user-namespaces', 'landlock'] as const).slice(process.getuid?.() === 0 ? 0 : 1)
const LIMITS = { memoryBytes: 32 * MIB, boxBytes: 16 * MIB, cpuMs: 20_000, wallMs: 60_000 }
const WAYS = ['unlinking', 'truncating', 'punching', 'opening', 'replacing']
/** Eight children with eight MiB each: too much together, and none of them alone. */
const TOO_MUCH = ['forked-hog', 8, 8]
const WITHIN = ['forked-hog', 3, 6]

let from: Scratch
let placed: readonly BoxFile[]
beforeAll(async () => {
  from = await scratch()
  const path = join(from.folder, 'large')
  await writeFile(path, Buffer.alloc(PLACED_MIB * MIB, 'l'))
  placed = ['placed-0', 'placed-1'].map((name) => ({ name, from: { path } }))
})
afterAll(() => from[Symbol.asyncDispose]())

describe.each(TIERS)('what the judge needs for a run is not the program’s to use, in the tier %s', (tier) => {
  let box: Box
  beforeAll(async () => {
    const sandbox = await from.open({ tier, runFolder: join(from.folder, tier) })
    box = await sandbox.openBox({ kind: 'judge' })
  })
  afterAll(() => box.close())

  const uses = (
    words: readonly (string | number)[],
    given: Partial<RunRequest> = {},
    limits: Partial<RunLimits> = {},
  ): Promise<RunOutcome> => {
    const request = from.request('uses', words, { ...LIMITS, ...limits })
    return box.run({ ...request, ...given, files: [...(request.files ?? []), ...(given.files ?? [])] })
  }

  test.each(WAYS)('by %s large files that were put into its box it gets no memory', async (how) => {
    expect((await uses(['frees', how, ...TOO_MUCH], { files: placed })).status).toBe('memory-limit')
    expect((await uses(['frees', how, ...WITHIN], { files: placed })).status).toBe('ok')
  })

  test.each(tier === 'landlock' ? [] : WAYS)('nor room in its box by %s them', async (how) => {
    const outcome = await uses(['frees', how, 'disk'], { files: placed })
    expect([outcome.status, textOf(outcome)]).toEqual(['ok', expect.stringMatching(/^(No space .*|short) after 1[56] MiB\n$/)])
  })

  test('and they are still there to read, also as a program', async () => {
    const outcome = await box.run({
      argv: [
        '/bin/sh',
        '-c',
        'cat placed-0 | wc -c; stat -c "%a %s" placed-1; ls; ./deep/uses exit 3; echo $?; touch deep/own; mv deep moved; ls moved',
      ],
      files: [...placed, { name: 'deep/uses', from: { bytes: await readFile(from.program('uses')) }, executable: true }],
      limits: from.request('uses', [], LIMITS).limits,
    })
    const bytes = PLACED_MIB * MIB
    expect(textOf(outcome)).toBe(`${bytes}\n444 ${bytes}\ndeep\nplaced-0\nplaced-1\n3\nown\nuses\n`)
  })

  test('nor by unlinking files that were put there as bytes, however small', async () => {
    const files = Array.from({ length: 640 }, (_, i) => ({
      name: `placed-${i}`,
      from: { bytes: Buffer.alloc(100_000, 'b') },
    }))
    const limits = { boxBytes: 80 * MIB }
    expect((await uses(['frees', 'unlinking', ...TOO_MUCH], { files }, limits)).status).toBe('memory-limit')
    expect((await uses(['frees', 'unlinking', ...WITHIN], { files }, limits)).status).toBe('ok')
  })

  test('nor by saying nothing where much would be captured', async () => {
    const given = { captureBytes: { stdout: 64 * MIB, stderr: 64 * MIB } }
    expect((await uses(TOO_MUCH, given, { outputBytes: 64 * MIB })).status).toBe('memory-limit')
    expect((await uses(WITHIN, given, { outputBytes: 64 * MIB })).status).toBe('ok')
  })

  test('nor by leaving its input unread', async () => {
    const given = { stdin: { kind: 'bytes', bytes: Buffer.alloc(64 * MIB, 'i') } } as const
    expect((await uses(['closes-stdin'], given)).status).toBe('ok')
    expect((await uses(TOO_MUCH, given)).status).toBe('memory-limit')
  })

  test('nor by keeping the pages of its input in pipes of its own', async () => {
    const program = `import os
try: os.splice(0, os.pipe()[1], 4)
except OSError as error: print(error.strerror)`
    const outcome = await box.run({
      argv: ['/usr/bin/python3', '-c', program],
      stdin: { kind: 'bytes', bytes: Buffer.from('input') },
      limits: from.request('uses', [], LIMITS).limits,
    })
    expect([outcome.status, textOf(outcome)]).toEqual(['ok', 'Function not implemented\n'])
  })

  test('nor by filters of its own, which the kernel keeps in nobody’s memory', async () => {
    const program = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
filter = ctypes.create_string_buffer(bytes([6, 0, 0, 0, 0, 0, 255, 127]))
class Program(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
one = ctypes.byref(Program(1, ctypes.addressof(filter)))
for call in [lambda: libc.prctl(22, 2, one), lambda: libc.syscall(${SYS_SECCOMP}, 1, 0, one)]: print(call(), ctypes.get_errno())`
    const outcome = await box.run({ argv: ['/usr/bin/python3', '-c', program], limits: from.request('uses', [], LIMITS).limits })
    expect([outcome.status, textOf(outcome)]).toEqual(['ok', '-1 1\n-1 1\n'])
  })

  test('and none of it counts as the program’s', async () => {
    const small = { memoryBytes: 16 * MIB, outputBytes: 64 * MIB }
    expect((await uses(['exit', 0], { files: placed }, small)).status).toBe('ok')
    const input = await uses(['counts-stdin'], { stdin: { kind: 'bytes', bytes: Buffer.alloc(48 * MIB, 'i') } }, small)
    expect([input.status, textOf(input)]).toEqual(['ok', `${48 * MIB}\n`])
    const captureBytes = { stdout: 64 * MIB, stderr: 0 }
    const output = await uses(['output', 48 * MIB], { captureBytes }, small)
    expect([output.status, output.stdout.bytes.length]).toEqual(['ok', 48 * MIB])
  })
})
