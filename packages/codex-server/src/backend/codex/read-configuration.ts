import type { JsonObject } from '@parley/protocol'
import { given } from '../given.ts'
import { Configuration } from '../mini/settings-file.ts'

/** As many keys as a configuration of ours knows could be wrong at once. */
const TRIES_MAX = 32

/** What of a newer Codex's configuration can be said in the words of an older one; what has no word there is left out. */
export function readConfiguration(config: JsonObject): Configuration {
  let rest: JsonObject = given(config)
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const parsed = Configuration.safeParse(rest)
    if (parsed.success) return parsed.data
    const [wrong] = parsed.error.issues.map(({ path }) => path[0])
    rest = Object.fromEntries(Object.entries(rest).filter(([key]) => key !== wrong))
  }
  return {}
}
