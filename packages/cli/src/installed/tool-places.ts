import { delimiter, isAbsolute } from 'node:path'
import type { Io } from '@parley/command-line'

/** Where compilers and interpreters are looked for, and whose home stays out of sight. */
export interface InstalledPlaces {
  readonly searchPath: readonly string[]
  readonly homeFolder?: string
}

/** The system's own first: two judges of one machine have the same Python, whoever started them. */
const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin']

/** The places of a judge that is started in this environment: the system's, then what is on PATH. Relative ones depend on where one stands. */
export function toolPlacesOf(env: Io['env']): InstalledPlaces {
  const onPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  const home = env['HOME']
  return {
    searchPath: [...new Set([...SYSTEM_PATH, ...onPath])],
    ...(home === undefined || !isAbsolute(home) ? {} : { homeFolder: home }),
  }
}
