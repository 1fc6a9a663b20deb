import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunLimits, RunOutcome, RunRequest } from '../index.ts'
import { type Scratch, scratch, textOf } from '../testing/scratch.ts'

const MIB = 1024 * 1024
/** Whoever is to be ended keeps what it has until then; whoever is not, long enough to be looked at. */
const HELD_S = { 'memory-limit': 50, 'output-limit': 50, ok: 1 } as const
type Expected = keyof typeof HELD_S
const LIMITS = { memoryBytes: 64 * MIB, boxBytes: 48 * MIB, cpuMs: 20_000, wallMs: 60_000 }
const asRoot = process.getuid?.() === 0

let from: Scratch
beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

function keeps(
  box: Box,
  what: string,
  mib: number,
  expected: Expected,
  more: { readonly limits?: Partial<RunLimits>; readonly given?: Partial<RunRequest> } = {},
): Promise<RunOutcome> {
  const request = from.request('buffers', [what, 1, HELD_S[expected], mib], { ...LIMITS, ...more.limits })
  return box.run({ ...request, ...more.given, files: [...(request.files ?? []), ...(more.given?.files ?? [])] })
}

describe.each(asRoot ? (['root', 'user-namespaces'] as const) : (['user-namespaces'] as const))(
  'files that lie in memory are memory of the run, in the tier %s',
  (tier) => {
    let box: Box
    beforeAll(async () => {
      const sandbox = await from.open({ tier, runFolder: join(from.folder, tier) })
      box = await sandbox.openBox({ kind: 'judge' })
    })
    afterAll(() => box.close())

    test.each<[string, number, Expected]>([
      ['files', 84, 'memory-limit'],
      ['files', 40, 'ok'],
      ['unlinked', 84, 'memory-limit'],
      ['unlinked', 40, 'ok'],
      ['mapped', 84, 'memory-limit'],
      // In the size of the process too: what is there once counts once.
      ['mapped', 40, 'ok'],
      // A mapping that is the process's own holds what was written to it beside the file.
      ['copied', 84, 'memory-limit'],
      ['copied', 40, 'ok'],
      // Names of mapped files that read like sizes.
      ['forged', 84, 'memory-limit'],
      ['forged', 40, 'ok'],
    ])('%s of %i MiB: %s', async (what, mib, expected) => {
      const outcome = await keeps(box, what, mib, expected, { limits: { openFiles: 128 } })
      expect([outcome.status, textOf(outcome)]).toEqual([expected, expected === 'ok' ? `${mib}\n` : ''])
    })

    test('and so are their names, however little is in them', async () => {
      const limits = { memoryBytes: 32 * MIB }
      expect((await keeps(box, 'names', 60, 'memory-limit', { limits })).status).toBe('memory-limit')
      expect((await keeps(box, 'names', 10, 'ok', { limits })).status).toBe('ok')
    })

    test('but not those that were put there for it', async () => {
      const files = Array.from({ length: 300 }, (_, i) => ({ name: `placed-${i}`, from: { bytes: Buffer.alloc(100_000, 'b') } }))
      const more = { limits: { memoryBytes: 16 * MIB, boxBytes: 80 * MIB }, given: { files } }
      expect((await keeps(box, 'files', 6, 'ok', more)).status).toBe('ok')
      expect((await keeps(box, 'files', 40, 'memory-limit', more)).status).toBe('memory-limit')
    })
  },
)

describe('where the box is a real folder', () => {
  test('what is on a disk is bounded by the folder’s size, also without a name', async () => {
    const sandbox = await from.open({ tier: 'landlock', runFolder: join(from.folder, 'landlock') })
    await using box = await sandbox.openBox({ kind: 'judge' })
    const limits = { openFiles: 128, memoryBytes: 16 * MIB }
    expect((await box.run(writes('unlinked', 100, limits))).status).toBe('output-limit')
    expect((await box.run(writes('unlinked', 20, limits))).status).toBe('ok')
  })

  test('what is in memory counts as such', async () => {
    const runFolder = await mkdtemp('/dev/shm/parley-held-')
    try {
      const sandbox = await from.open({ tier: 'landlock', runFolder })
      await using box = await sandbox.openBox({ kind: 'judge' })
      const limits = { openFiles: 128, boxBytes: 128 * MIB, memoryBytes: 32 * MIB }
      for (const kind of ['named', 'unlinked'] as const) {
        expect((await box.run(writes(kind, 60, limits))).status).toBe('memory-limit')
        expect((await box.run(writes(kind, 10, limits))).status).toBe('ok')
      }
    } finally {
      await rm(runFolder, { recursive: true, force: true })
    }
  })
})

/** In its own folder, by whatever path that has. */
function writes(kind: 'named' | 'unlinked', mib: number, limits: Partial<RunLimits>): RunRequest {
  const remove = kind === 'unlinked' ? 'os.unlink(name)' : 'pass'
  const program = `import os, time
kept = []
for i in range(${mib}):
  name = f'f{i}'
  kept.append(os.open(name, os.O_CREAT | os.O_WRONLY))
  os.write(kept[-1], b'x' * ${MIB})
  ${remove}
time.sleep(${mib > 30 ? HELD_S['memory-limit'] : HELD_S.ok})`
  return {
    argv: ['/usr/bin/python3', '-c', program],
    limits: { ...from.request('buffers', []).limits, ...LIMITS, ...limits },
  }
}
