import type { Invocation } from '../command-line/command.ts'
import { requireSettings } from '../config/load.ts'
import type { Settings } from '../config/setting.ts'
import { tellNotices } from '../config/tell-notices.ts'
import type { ServerLog } from './server-log.ts'

/** The settings of a server on our own engine. `--config` is Codex's there: our own file is where it always is. */
export function ownSettings({ io, values }: Pick<Invocation, 'io' | 'values'>, log: ServerLog): Settings {
  const folder = values.text('data')
  const options = { env: io.env, cwd: io.cwd, ...(folder === undefined ? {} : { flags: { dataDir: folder } }) }
  return requireSettings(options, (loaded) => tellNotices(io, loaded, (line) => log('warn', 'parley_codex', io.typed(line))))
}
