import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A Codex of this machine: how it is started without a shell, and what of the machine that needs to be seen. */
export interface CodexProgram {
  /** Where it was found. */
  readonly path: string
  /** A program and its first arguments. */
  readonly argv: readonly [string, ...string[]]
  /** What its PATH must begin with. */
  readonly pathFolders: readonly string[]
  readonly readable: readonly string[]
}

const MACHINES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }
const SYSTEMS: Readonly<Record<string, string>> = { linux: 'unknown-linux-musl', darwin: 'apple-darwin' }
/** Where the program and the tools beside it are, in newer and in older packages. */
const LAYOUTS = [
  ['bin/codex', 'codex-path'],
  ['codex/codex', 'path'],
] as const
const HEAD_BYTES = 128

/** How the Codex at a path is started. It must be there. */
export function codexProgram(path: string): CodexProgram {
  const real = realpathSync(path)
  if (!isNodeScript(real)) return { path, argv: [real], pathFolders: [], readable: [real] }
  const folder = nativeFolder(real)
  for (const [program, tools] of LAYOUTS) {
    if (folder === undefined || !existsSync(join(folder, program))) continue
    return { path, argv: [join(folder, program)], pathFolders: [join(folder, tools)], readable: [folder] }
  }
  // The launcher knows better than we do; it needs a Node, and ours is there.
  return { path, argv: [process.execPath, real], pathFolders: [], readable: [process.execPath, dirname(dirname(real))] }
}

/** The folder of the program that the launcher of the npm package starts: without it there is one process less. */
function nativeFolder(launcher: string): string | undefined {
  const triple = `${MACHINES[process.arch] ?? process.arch}-${SYSTEMS[process.platform] ?? process.platform}`
  const vendors = [join(dirname(launcher), '..', 'vendor')]
  try {
    const platform = createRequire(launcher).resolve(`@openai/codex-${process.platform}-${process.arch}/package.json`)
    vendors.unshift(join(dirname(platform), 'vendor'))
  } catch {
    // Older versions carry every platform in one package.
  }
  return vendors.map((vendor) => join(vendor, triple)).find((folder) => existsSync(folder))
}

function isNodeScript(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    const line = head.toString('latin1', 0, readSync(file, head)).split('\n', 1)[0] ?? ''
    return line.startsWith('#!') && line.includes('node')
  } finally {
    closeSync(file)
  }
}
