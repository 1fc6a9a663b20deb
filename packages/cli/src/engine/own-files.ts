import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MountServer } from '@parley/agent'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
/** What this program is made of. Not the whole folder: data of an instance may lie in it. */
const PARTS = ['bin', 'packages', 'node_modules', 'package.json']

/** What must be seen wherever our own commands are to run. */
export function ownFiles(): string[] {
  return [process.execPath, ...PARTS.map((part) => join(ROOT, part)).filter((path) => existsSync(path))]
}

/** How an engine in a box starts a command of ours that relays to a socket: the environment says which one. */
export function relayedServer(command: string, env: Readonly<Record<string, string>>): MountServer {
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [join(ROOT, 'bin', 'parley.js'), command],
    env,
  }
}
