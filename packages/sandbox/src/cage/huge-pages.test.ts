import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BoxProfile } from '../index.ts'
import { type Scratch, scratch, textOf } from '../testing/scratch.ts'

const TIERS = (['root', 'user-namespaces', 'landlock'] as const).slice(process.getuid?.() === 0 ? 0 : 1)

let from: Scratch
beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

/** A machine that has none set aside says ENOMEM, or gives a file that is empty still: only a refusal says that it never would. */
test.each(TIERS.flatMap((tier) => [[tier, 'judge'] as const, [tier, 'workspace'] as const]))(
  'huge pages are refused in the tier %s, in a box for %s',
  async (tier, kind) => {
    const folder = join(from.folder, `${tier}-${kind}`)
    await mkdir(folder)
    const sandbox = await from.open({ tier, runFolder: join(from.folder, `run-${tier}`) })
    const readable = [from.program('reaches')]
    const profile: BoxProfile = kind === 'judge' ? { kind, readable } : { kind, folder, writable: false, readable }
    await using box = await sandbox.openBox(profile)
    const { limits } = from.request('reaches', [])
    const outcome = await box.run({ argv: [from.program('reaches'), 'huge'], limits })
    // Without a cgroup no file without a name and no segment is to be had at all.
    const other = sandbox.report.tier.includes('cgroup') ? 'EPERM' : 'ENOSYS'
    expect(textOf(outcome).trim().split('\n')).toEqual(['huge-mapping EPERM', `huge-file ${other}`, `huge-segment ${other}`])
  },
)
