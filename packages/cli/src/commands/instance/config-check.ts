import { flagsOf } from '../../config/instance.ts'
import { loadSettings } from '../../config/load.ts'
import { SETTINGS } from '../../config/setting.ts'
import type { SettingSpec } from '../../config/setting-spec.ts'
import { columns } from '@parley/screen'
import type { Invocation } from '@parley/command-line'

/** The settings in effect, secrets masked, and what is wrong with them. Exit code 1 when something is. */
export async function configCheck(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const loaded = loadSettings({ env: io.env, cwd: io.cwd, configFile: values.text('config'), flags: flagsOf(invocation) })
  const known = new Map<string, { readonly value: unknown; readonly source: string }>(Object.entries(loaded.values))
  const settings = Object.entries<SettingSpec>(SETTINGS).map(([name, { key, isSecret, shown, doc }]) => {
    const found = known.get(name)
    const value = found?.value === undefined ? null : isSecret === true ? '***' : (shown?.(found.value) ?? found.value)
    return { key, value, source: found?.source ?? 'wrong', doc }
  })
  const isGood = loaded.settings !== undefined
  if (values.has('json')) {
    io.out(
      `${JSON.stringify({ ok: isGood, file: loaded.file ?? null, settings: settings.map(({ key, value, source }) => ({ key, value, source })), problems: loaded.problems })}\n`,
    )
    return isGood ? 0 : 1
  }
  const rows = settings.map(({ key, value, source, doc }) => [
    key,
    value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value),
    source,
    doc,
  ])
  io.out(`${columns([['setting', 'value', 'from', 'meaning'], ...rows], io.screen(), { mayGo: ['meaning'] })}\n`)
  for (const { key, message, level } of loaded.problems) io.err(`${level}: ${key} ${message}\n`)
  io.err(isGood ? 'The settings are good.\n' : 'The settings are wrong.\n')
  return isGood ? 0 : 1
}
