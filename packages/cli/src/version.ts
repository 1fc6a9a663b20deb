import { readFileSync } from 'node:fs'
import { isJsonObject } from '@parley/protocol'

/** The version of this package, which is the version of all. */
export function ownVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return isJsonObject(parsed) && typeof parsed['version'] === 'string' ? parsed['version'] : 'unknown'
}
