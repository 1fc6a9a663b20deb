import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A Codex of one version that is installed for tests. */
export interface CodexPeer {
  /** As npm has it: `0.44.0`. */
  readonly version: string
  /** Holds `node_modules`. */
  readonly dir: string
  bin(command: string): string
}

/** How a Codex is started: what to run, with which arguments first, and what its PATH must begin with. */
export interface CodexBinary {
  readonly command: string
  readonly args: readonly string[]
  readonly pathDirs: readonly string[]
}

const MACHINES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }
const SYSTEMS: Readonly<Record<string, string>> = { linux: 'unknown-linux-musl', darwin: 'apple-darwin' }

/**
 * The native program inside the peer, without the Node launcher around it: the launcher only puts the folder of `rg`
 * on PATH and passes signals on, and costs a second process. Where the program is not found the launcher is run.
 */
export function codexBinary(peer: CodexPeer): CodexBinary {
  const triple = `${MACHINES[process.arch] ?? ''}-${SYSTEMS[process.platform] ?? ''}`
  for (const vendor of vendorFolders(peer)) {
    const root = join(vendor, triple)
    for (const [program, path] of [
      ['bin/codex', 'codex-path'],
      ['codex/codex', 'path'],
    ] as const)
      if (existsSync(join(root, program))) return { command: join(root, program), args: [], pathDirs: [join(root, path)] }
  }
  return { command: process.execPath, args: [peer.bin('codex')], pathDirs: [] }
}

function vendorFolders(peer: CodexPeer): readonly string[] {
  const launcher = createRequire(peer.bin('codex'))
  const folders = [join(dirname(peer.bin('codex')), '..', 'vendor')]
  try {
    const platform = launcher.resolve(`@openai/codex-${process.platform}-${process.arch}/package.json`)
    return [join(dirname(platform), 'vendor'), ...folders]
  } catch {
    // Older versions carry every platform in one package.
    return folders
  }
}
