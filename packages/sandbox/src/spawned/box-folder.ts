import { constants, createWriteStream, lstatSync } from 'node:fs'
import { chmod, lchown, mkdir, mkdtemp, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { BoxFile, KeptFile } from '../sandbox.ts'

/** The number of the process that made it is in the name: the next one to start knows whether it is still there. */
const NAME = /^box-(\d+)-/

/** A real folder that serves as one run's box, beside a folder for its temporary files. */
export interface BoxFolder {
  readonly box: string
  readonly tmp: string
  remove(): Promise<void>
}

/** The folders are `owner`'s, where there is one; the files in them are ours, to be read. */
export async function makeBoxFolder(runFolder: string, files: readonly BoxFile[], owner?: number): Promise<BoxFolder> {
  const folder = await mkdtemp(join(runFolder, `box-${process.pid}-`))
  const made = { box: join(folder, 'box'), tmp: join(folder, 'tmp'), remove: () => rm(folder, { recursive: true, force: true }) }
  try {
    await mkdir(made.box)
    await mkdir(made.tmp)
    for (const file of files) await placeFile(made.box, file)
    const folders = new Set([
      made.tmp,
      made.box,
      ...files.flatMap(({ name }) => foldersOf(name).map((way) => join(made.box, way))),
    ])
    if (owner !== undefined) for (const each of folders) await lchown(each, owner, owner)
    return made
  } catch (error) {
    await made.remove()
    throw error
  }
}

async function placeFile(box: string, { name, from, executable }: BoxFile): Promise<void> {
  const target = join(box, name)
  await mkdir(dirname(target), { recursive: true })
  if ('bytes' in from) {
    await writeFile(target, from.bytes, { flag: 'wx' })
  } else {
    // The streams close what they are given.
    const source = await open(from.path, constants.O_RDONLY | constants.O_NOFOLLOW)
    await pipeline(source.createReadStream(), createWriteStream(target, { flags: 'wx' }))
  }
  await chmod(target, executable === true ? 0o555 : 0o444)
}

/** Takes a plain file out; null when done, else why not. The program is dead by now, so what is looked at stays as it is. */
export async function keepFile(box: string, { name, to, limitBytes }: KeptFile): Promise<string | null> {
  const partial = join(dirname(to), `.${process.pid}.${name.replaceAll('/', '_')}.partial`)
  try {
    if (!hasPlainWay(box, name)) return `${name} was not kept: it is not a plain file`
    await using source = await open(join(box, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = await source.stat()
    if (!found.isFile()) return `${name} was not kept: it is not a plain file`
    if (found.size > limitBytes) return `${name} was not kept: it is too large`
    await writeFile(partial, await source.readFile(), { mode: (found.mode & 0o100) === 0 ? 0o644 : 0o755 })
    await rename(partial, to)
    return null
  } catch (error) {
    await rm(partial, { force: true })
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    return `${name} was not kept: ${missing ? 'it is not there' : 'it is not a plain file'}`
  }
}

/** Whether every part of the way is a real folder. */
function hasPlainWay(box: string, name: string): boolean {
  return foldersOf(name).every((folder) => lstatSync(join(box, folder)).isDirectory())
}

/** Those on the way to a name below the box. */
function foldersOf(name: string): readonly string[] {
  const parts = name.split('/').slice(0, -1)
  return parts.map((_, index) => join(...parts.slice(0, index + 1)))
}

/** Removes folders whose maker was killed. */
export async function sweepBoxFolders(runFolder: string): Promise<void> {
  for (const name of await readdir(runFolder)) {
    const maker = NAME.exec(name)?.[1]
    if (maker !== undefined && !isAlive(Number(maker))) await rm(join(runFolder, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
