import type { Invocation } from '@parley/command-line'
import { type ReadSettings, readSettings } from './load.ts'
import { tellNotices } from './tell-notices.ts'
import { SETTINGS, type SettingName, type Settings, isSettingName } from './setting.ts'
import type { SettingSpec } from './setting-spec.ts'

/** The settings that the flags of this line ask for. */
export function flagsOf({ values }: Pick<Invocation, 'values'>): Partial<Record<SettingName, string | boolean>> {
  const flags: Partial<Record<SettingName, string | boolean>> = {}
  for (const [name, { flag }] of Object.entries<SettingSpec>(SETTINGS)) {
    if (flag !== undefined && isSettingName(name) && values.has(flag)) flags[name] = values.text(flag) ?? true
  }
  return flags
}

/** The instance that this command line is about. */
export function instanceOf(invocation: Pick<Invocation, 'values' | 'io'>): Settings {
  return readInstance(invocation).settings
}

/** The same, with the settings files that were read for it. */
export function readInstance(invocation: Pick<Invocation, 'values' | 'io'>): ReadSettings {
  const { values, io } = invocation
  const options = { env: io.env, cwd: io.cwd, configFile: values.text('config'), flags: flagsOf(invocation) }
  return readSettings(options, (loaded) => tellNotices(io, loaded))
}
