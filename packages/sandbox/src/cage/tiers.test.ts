import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scratch, scratch } from '../testing/scratch.ts'
import { compileHelper } from './compile-helper.ts'

const run = promisify(execFile)
const MAIN = join(import.meta.dirname, '..', 'testing', 'tier-main.ts')
const NOBODY = '65534'
const asRoot = process.getuid?.() === 0

let from: Scratch
let cacheFolder: string

beforeAll(async () => {
  from = await scratch()
  // Compiled once, for others to run and not to write.
  cacheFolder = join(from.folder, 'cache')
  await compileHelper(cacheFolder)
  await chmod(cacheFolder, 0o755)
})
afterAll(() => from[Symbol.asyncDispose]())

/** In another process, as another user where we are root. */
async function answersOf(tier: string): Promise<unknown> {
  const folder = join(from.folder, `as-${tier}`)
  await mkdir(folder)
  if (asRoot) await run('chmod', ['777', folder])
  const command = [process.execPath, MAIN, cacheFolder, join(folder, 'run'), tier, from.folder]
  const drop = asRoot ? ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups'] : []
  const [program = '', ...words] = [...drop, ...command]
  const { stdout } = await run(program, words)
  expect(await readdir(join(folder, 'run'))).toEqual([])
  return JSON.parse(stdout)
}

const HELD = {
  input: { status: 'ok', text: '5\n' },
  spin: 'cpu-limit',
  unwaited: 'cpu-limit',
  feigned: 'signal',
  same: { status: 'ok', text: 'same\n' },
  sharing: { status: 'ok', text: 'same\n' },
  children: 'memory-limit',
  node: { status: 'ok', text: '42\n' },
  hog: 'memory-limit',
  sockets: 'memory-limit',
  unseen: 'memory-limit',
  room: { status: 'ok', text: '0\n' },
  bomb: 'process-limit',
  output: 'output-limit',
  sleep: 'wall-limit',
  left: true,
  daemon: { status: 'ok', text: 'gone\n' },
}

describe('an ordinary user', () => {
  test('with user namespaces is held by them', async () => {
    expect(await answersOf('user-namespaces')).toEqual({ ...HELD, tier: 'namespaces', open: ['signal-init OPEN'] })
  })

  test('without them is held by Landlock', async () => {
    expect(await answersOf('landlock')).toEqual({ ...HELD, tier: 'landlock', open: [] })
  })

  test('is refused what only root can have, and told why', async () => {
    await expect(answersOf('root')).rejects.toThrow(
      /no tier of the sandbox holds on this machine \(root: .*Operation not permitted\)/,
    )
  })
})
