import { isJsonObject } from '@parley/protocol'
import { type TomlPath, TomlEditError, addTable, parseToml, removeFrom, replaceValue, setTopLevel } from './toml-edit.ts'

/** Writes the default model as Codex does: into the profile that is active, else at the top. Throws `TomlEditError`. */
export function setModel(text: string, model: string | null, effort: string | null): string {
  const { profile } = parseToml(text)
  const set = (before: string, key: string, value: string | null): string =>
    typeof profile === 'string' ? setInProfile(before, profile, key, value) : setTopLevel(before, key, value)
  return set(set(text, 'model', model), 'model_reasoning_effort', effort)
}

function setInProfile(text: string, profile: string, key: string, value: string | null): string {
  const path: TomlPath = ['profiles', profile, key]
  if (value === null) return removeFrom(text, path)
  const { profiles } = parseToml(text)
  const table = isJsonObject(profiles) ? profiles[profile] : undefined
  if (table === undefined) return addTable(text, ['profiles', profile], { [key]: value })
  if (isJsonObject(table) && Object.hasOwn(table, key)) return replaceValue(text, path, value)
  const after = insertBelowHeader(text, profile, `${key} = ${JSON.stringify(value)}`)
  // A file that is written in an unusual way may have the header elsewhere: `replaceValue` looks whether it is there now.
  return replaceValue(after, path, value)
}

function insertBelowHeader(text: string, profile: string, line: string): string {
  const names = [profile, JSON.stringify(profile), `'${profile}'`]
  const lines = text.split('\n')
  const at = lines.findIndex((one) => names.some((name) => one.replace(/#.*$/, '').trim() === `[profiles.${name}]`))
  if (at === -1) throw new TomlEditError(`the profile \`${profile}\` is written in a way that cannot be changed safely`)
  return lines.toSpliced(at + 1, 0, line).join('\n')
}
