import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import peers from './peers.json' with { type: 'json' }

/** A program or library of somebody else that tests and benchmarks run beside ours, by the name of its entry in `peers.json`. */
export type PeerName = keyof typeof peers

/** What is pinned of one peer; its transitive versions are in `locks/NAME/package-lock.json`. */
export interface PinnedPeer {
  readonly package: string
  readonly version: string
  readonly integrity: string
}

export const PINNED_PEERS: Readonly<Record<PeerName, PinnedPeer>> = peers

export function isPeerName(text: string): text is PeerName {
  return Object.hasOwn(peers, text)
}

/** A peer that is installed and whole. */
export interface Peer {
  readonly name: PeerName
  readonly version: string
  /** Holds `node_modules`. */
  readonly dir: string
  /** The JavaScript file behind a command of the peer: run it with `process.execPath`, so that it gets our Node. */
  bin(command: string): string
  /** The file that `import` of this package would load from inside the peer's folder. */
  resolve(specifier: string): string
}

export function peerAt(name: PeerName, dir: string): Peer {
  const require = createRequire(join(dir, 'package.json'))
  return {
    name,
    version: PINNED_PEERS[name].version,
    dir,
    bin: (command) => {
      const link = join(dir, 'node_modules', '.bin', command)
      if (!existsSync(link)) throw new Error(`peer ${name} has no command ${command}`)
      return realpathSync(link)
    },
    resolve: (specifier) => require.resolve(specifier),
  }
}
