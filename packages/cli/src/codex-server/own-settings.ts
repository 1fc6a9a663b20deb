import { type ReadSettings, readSettings } from '../config/load.ts'
import { tellNotices } from '../config/tell-notices.ts'
import type { ServerLog } from '@parley/codex-server/start'
import type { Invocation } from '@parley/command-line'

/** The settings of a server on our own engine. `--config` is Codex's there: our own file is where it always is. */
export function ownSettings({ io, values }: Pick<Invocation, 'io' | 'values'>, log: ServerLog): ReadSettings {
  const folder = values.text('data')
  const options = { env: io.env, cwd: io.cwd, ...(folder === undefined ? {} : { flags: { dataDir: folder } }) }
  return readSettings(options, (loaded) => tellNotices(io, loaded, (line) => log('warn', 'parley_codex', io.typed(line))))
}
