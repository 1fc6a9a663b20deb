import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileHelper } from './cage/compile-helper.ts'
import { type Scratch, scratch } from './testing/scratch.ts'

const run = promisify(execFile)
const MAIN = join(import.meta.dirname, 'testing', 'descriptors-main.ts')
const TIMEOUT_MS = 120_000
const asRoot = process.getuid?.() === 0
const WAYS: readonly (readonly [string, string])[] = [
  ...(asRoot ? [['cage', 'root'] as const] : []),
  ['cage', 'user-namespaces'],
  ['cage', 'landlock'],
  ...(existsSync('/usr/bin/bwrap') ? [['bwrap', ''] as const] : []),
  ['none', ''],
]
/** As a shell numbers them for a lock, and so high that Node, which closes the first ones at its start, never looks there. */
const LEFT_OPEN = [9, 21, 200, 251]

let from: Scratch
let place: string
let cacheFolder: string

beforeAll(async () => {
  from = await scratch()
  place = await mkdtemp('/var/tmp/parley-descriptors-')
  await chmod(place, 0o755)
  await writeFile(join(place, 'lock'), 'told')
  cacheFolder = join(from.folder, 'cache')
  await compileHelper(cacheFolder)
})
afterAll(async () => {
  await rm(place, { recursive: true, force: true })
  await from[Symbol.asyncDispose]()
})

test.each(WAYS)(
  'nothing that was left open reaches a program in %s %s, however many run at once',
  { timeout: TIMEOUT_MS },
  async (driver, tier) => {
    const folder = join(place, `work-${driver}-${tier}`)
    await mkdir(folder)
    const left = LEFT_OPEN.map((number) => `exec ${number}<"$1"`).join('; ')
    const words = [process.execPath, MAIN, driver, tier, cacheFolder, join(from.folder, `run-${driver}-${tier}`), folder]
    const { stdout } = await run('/bin/bash', ['-c', `${left}; shift; exec "$@"`, 'bash', join(place, 'lock'), ...words])
    expect(JSON.parse(stdout)).toEqual(['0 1 2'])
  },
)
