import { homedir, userInfo } from 'node:os'

/** The home folder that the environment or the system knows. In a container people run as a number that no file of users has: then `/`. */
export function knownHome(): string {
  return orElse(homedir, '/')
}

/** The shell that the system knows for whoever runs us; a number without an entry has the plain one. */
export function knownShell(): string {
  return orElse(() => userInfo().shell ?? '', '') || '/bin/sh'
}

function orElse(ask: () => string, otherwise: string): string {
  try {
    return ask()
  } catch {
    return otherwise
  }
}
