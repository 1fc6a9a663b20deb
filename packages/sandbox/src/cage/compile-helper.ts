import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { access, constants, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { foreignHandOn } from '../foreign-hand.ts'
import { SandboxUnavailable } from '../sandbox.ts'

const run = promisify(execFile)
const SOURCE_FOLDER = join(import.meta.dirname, '..', '..', 'cage')
const COMPILERS = ['cc', 'gcc', 'clang']
const FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']
/** A few seconds are enough where nothing else runs; on a machine with twenty others at work one minute was not. */
const COMPILE_TIMEOUT_MS = 5 * 60_000
const FLAGS = ['-std=c11', '-O2', '-Wall', '-Wextra']
// Without a dynamic loader the helper is smaller and forks faster; not every machine has a static C library.
const LINKING = [['-static'], []]
const INSTALL_HINT = 'install a C compiler (on Debian: apt-get install gcc libc6-dev)'

/** The helper's binary, compiled once for these sources and this compiler. Any number of processes may ask at once. */
export async function compileHelper(cacheFolder: string): Promise<string> {
  const compiler = await findCompiler()
  const names = (await readdir(SOURCE_FOLDER)).filter((name) => name.endsWith('.c') || name.endsWith('.h')).sort()
  const hash = createHash('sha256')
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(SOURCE_FOLDER, name)))
  const { stdout: version } = await run(compiler, ['--version'], { env: {}, timeout: COMPILE_TIMEOUT_MS })
  hash.update(version).update(FLAGS.join(' ')).update(process.arch)
  await mkdir(cacheFolder, { recursive: true, mode: 0o700 })
  await checkOwner(cacheFolder)
  const target = join(cacheFolder, `cage-${hash.digest('hex').slice(0, 32)}`)
  if (await isExecutable(target)) return target
  const partial = `${target}.${process.pid}.${randomBytes(4).toString('hex')}.partial`
  const sources = names.filter((name) => name.endsWith('.c')).map((name) => join(SOURCE_FOLDER, name))
  try {
    await compile(compiler, sources, partial)
    // Whole or not at all: another process may be doing the same.
    await rename(partial, target)
  } finally {
    await rm(partial, { force: true })
  }
  return target
}

async function compile(compiler: string, sources: readonly string[], target: string): Promise<void> {
  let last: unknown
  for (const linking of LINKING) {
    try {
      await run(compiler, [...FLAGS, ...linking, '-o', target, ...sources], {
        env: { PATH: FOLDERS.join(':') },
        timeout: COMPILE_TIMEOUT_MS,
      })
      return
    } catch (error) {
      last = error
    }
  }
  throw new SandboxUnavailable('the sandbox helper does not compile here', INSTALL_HINT, { cause: last })
}

/** What is in the folder will be run with our rights: nobody else may put it there, nor put another folder in its place. */
async function checkOwner(folder: string): Promise<void> {
  const hand = await foreignHandOn(folder)
  if (hand === undefined) return
  throw new SandboxUnavailable(
    `others could put their own program where the sandbox helper is kept: ${hand}`,
    `chmod go-w that folder, or name another one with PARLEY_CACHE`,
  )
}

async function findCompiler(): Promise<string> {
  for (const name of COMPILERS) {
    for (const folder of FOLDERS) {
      const path = join(folder, name)
      if (await isExecutable(path)) return path
    }
  }
  throw new SandboxUnavailable('there is no C compiler for the sandbox helper', INSTALL_HINT)
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
