import { join } from 'node:path'
import type { CodexProgram } from '../find/codex-program.ts'

const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin']

/** The variables of a Codex in a box: nothing of the judge's own is among them. */
export function boxEnvironment({ pathFolders }: Pick<CodexProgram, 'pathFolders'>, home: string): Record<string, string> {
  return {
    PATH: [...pathFolders, ...SYSTEM_PATH].join(':'),
    HOME: home,
    CODEX_HOME: home,
    // Codex goes without its own tools where its home lies in the folder for temporary files.
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
  }
}
