import { parseVersion } from '@parley/contracts/version'

/** `probe/0.166.0 (Debian 12.0.0; x86_64) …` */
export function versionOf(userAgent: string): string | undefined {
  const named = /^[^\s/]+\/(\S+)/.exec(userAgent)?.[1]
  return named === undefined ? undefined : parseVersion(named)?.text
}
