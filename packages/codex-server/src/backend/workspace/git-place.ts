import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** No settings but those of the repository and of the command, no questions, nothing fetched. */
export const GIT_ENVIRONMENT = {
  HOME: '/box',
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_PAGER: 'cat',
  GIT_ASKPASS: '/bin/false',
}

/** The nearest folder above with a repository in it. Throws where there is none. */
export function repositoryOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) throw new Error(`${folder} belongs to no repository`)
  }
}
