import { delimiter, join } from 'node:path'
import type { StartCodex } from '../process/codex-process.ts'
import { MODEL_KEY } from '../world/codex-config.ts'
import { type CodexPeer, codexBinary } from './codex-binary.ts'
import type { CodexHome } from './codex-home.ts'
import { openLocalPrograms } from './local-programs.ts'

export interface CodexPeerOptions {
  readonly home: Pick<CodexHome, 'path'>
  readonly cwd?: string
  /** Beside the few variables that it gets anyway. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts the real Codex of a peer, and whatever it started is stopped at the end. */
export type CodexPeerStarter = StartCodex & AsyncDisposable & { readonly running: () => readonly number[] }

export function startCodexPeer(peer: CodexPeer, { home, cwd = home.path, env: more = {} }: CodexPeerOptions): CodexPeerStarter {
  const { command, args: first, pathDirs } = codexBinary(peer)
  const programs = openLocalPrograms()
  const env = {
    PATH: [...pathDirs, process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter),
    HOME: home.path,
    CODEX_HOME: home.path,
    // Codex refuses a home inside the folder for temporary files, and goes without its own tools then.
    TMPDIR: join(home.path, 'tmp'),
    LANG: 'C.UTF-8',
    [MODEL_KEY.name]: MODEL_KEY.value,
    ...more,
  }
  const start: StartCodex = (args) => programs.start({ command, args: [...first, ...args], env, cwd })
  return Object.assign(start, {
    running: programs.running,
    [Symbol.asyncDispose]: () => programs[Symbol.asyncDispose](),
  })
}
