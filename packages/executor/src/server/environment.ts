import { tmpdir } from 'node:os'
import { basename } from 'node:path'
import type { JsonObject } from '@parley/protocol'
import { knownHome, knownShell } from '@parley/sandbox'
import { uriOf } from '../api/file-uri.ts'

/** What an executor says of itself. */
export interface Whereabouts {
  readonly version: string
  /** The folder that it was started in. */
  readonly cwd: string
  /** The variables it was started with; a process gets of them what its policy asks for. */
  readonly env: Readonly<Record<string, string>>
}

/** In the shape of the real one. What we do not do is not among the capabilities; `outputHold`, `endInput`, `outputFrames` and `takeOver` are ours. */
export function environmentInfo({ version, cwd, env }: Whereabouts): JsonObject {
  const shell = env['SHELL'] ?? knownShell()
  return {
    shell: { name: basename(shell), path: shell },
    executorVersion: version,
    cwd: uriOf(cwd),
    userHomeDir: uriOf(env['HOME'] ?? knownHome()),
    platformOs: process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'windows' : process.platform,
    temporaryDirectories: [uriOf(tmpdir())],
    tempDir: uriOf(tmpdir()),
    capabilities: { outputHold: true, endInput: true, outputFrames: true, takeOver: true },
  }
}
