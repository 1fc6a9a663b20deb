import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BoxProfile } from '../index.ts'
import { type Scratch, ROOMY, scratch } from '../testing/scratch.ts'
import type { SettledWorkspace } from '../workspace/settle-profile.ts'
import { CageProcess, openFrame } from './cage-process.ts'
import { compileHelper } from './compile-helper.ts'
import { FRAME } from './frame.ts'
import { decodeOutcome, encodeOrder } from './order.ts'

/** Only root can have the first. */
const TIERS = (['root', 'user-namespaces'] as const).slice(process.getuid?.() === 0 ? 0 : 1)
let from: Scratch
let binary: string
let place: string
beforeAll(async () => {
  from = await scratch()
  binary = await compileHelper(join(from.folder, 'cache'))
  place = realpathSync(mkdtempSync('/var/tmp/parley-settled-'))
  chmodSync(place, 0o755)
  for (const path of ['work/sub', 'private/deep', 'run', 'tools']) mkdirSync(join(place, path), { recursive: true })
  writeFileSync(join(place, 'private/key'), 'told')
  symlinkSync('private', join(place, 'link'))
  symlinkSync('../private', join(place, 'work/link'))
  linkSync(join(place, 'private/key'), join(place, 'tools/key'))
})
afterAll(async () => {
  rmSync(place, { recursive: true, force: true })
  await from[Symbol.asyncDispose]()
})

/** What was true when the paths were looked at, and others have changed since. */
const settled = (more: Partial<SettledWorkspace>): SettledWorkspace => ({
  folder: join(place, 'work'),
  isWritable: true,
  alsoWritable: [],
  readable: [],
  hidden: [],
  placeholders: [],
  links: new Map(),
  ...more,
})

describe.each(TIERS)('a path that has changed since it was settled, in the tier %s', (tier) => {
  /** Why the helper refuses, or that it does not. */
  async function opened(workspace: SettledWorkspace): Promise<string> {
    const profile: BoxProfile = { kind: 'workspace', folder: workspace.folder, writable: workspace.isWritable }
    const helper = new CageProcess(binary)
    const frame = await helper.ask(openFrame({ binary, tier, runFolder: join(place, 'run'), profile }, workspace))
    await helper.close()
    return frame?.type === FRAME.ready ? 'opened' : (frame?.payload.toString() ?? helper.complaint)
  }

  test('is opened where nothing has', async () => {
    expect(await opened(settled({ readable: [join(place, 'tools')], hidden: [join(place, 'private')] }))).toBe('opened')
  })

  test.each<[string, () => Partial<SettledWorkspace>]>([
    ['a working folder that is a link', () => ({ folder: join(place, 'link') })],
    ['a working folder behind a link', () => ({ folder: join(place, 'link/deep') })],
    ['a second folder to write in', () => ({ alsoWritable: [join(place, 'link/deep')] })],
    ['one in the working folder', () => ({ alsoWritable: [join(place, 'work/link')] })],
    ['a readable folder', () => ({ readable: [join(place, 'link')] })],
    ['a readable folder in the working folder', () => ({ readable: [join(place, 'work/link/deep')] })],
    ['a hidden folder', () => ({ hidden: [join(place, 'work/link/deep')] })],
    ['a hidden folder that is gone', () => ({ hidden: [join(place, 'work/gone')] })],
    [
      'a hidden file that is shown by another name',
      () => ({ readable: [join(place, 'tools/key')], hidden: [join(place, 'private/key')] }),
    ],
  ])('is refused: %s', async (_what, more) => {
    expect(await opened(settled(more()))).toMatch(/has changed since it was looked at, or lies behind a link/)
    expect([readdirSync(join(place, 'private')), existsSync(join(place, 'work/.git'))]).toEqual([['deep', 'key'], false])
  })
})

test('a folder that became a link is not shown by a tier that grants folders', async () => {
  const helper = new CageProcess(binary)
  const folder = join(place, 'link')
  const profile: BoxProfile = { kind: 'workspace', folder, writable: false }
  const workspace = settled({ folder, isWritable: false, readable: [join(place, 'link/deep')] })
  const start = { binary, tier: 'landlock', runFolder: join(place, 'run'), profile } as const
  expect((await helper.ask(openFrame(start, workspace)))?.type).toBe(FRAME.ready)
  const request = { argv: ['/bin/cat', join(place, 'private/key')], limits: ROOMY } as const
  const frame = await helper.ask(encodeOrder(request, 'own'))
  await helper.close()
  if (frame === null) throw new Error(helper.complaint)
  const { stdout, stderr } = decodeOutcome(frame, request).outcome
  expect([Buffer.from(stdout.bytes).toString(), Buffer.from(stderr.bytes).toString()]).toEqual([
    '',
    expect.stringContaining('Permission denied'),
  ])
})
