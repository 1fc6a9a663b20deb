import { realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { messageOf } from '@parley/protocol'
import { readGiven } from '@parley/command-line/commands'
import { type TomlTable, type TomlValue, parse as parseToml } from 'smol-toml'
import { inShell } from '../wording/program.ts'
import { cloneFolder, defaultDataDir } from '../data/default-data-dir.ts'
import { personFolders } from '../data/person-folders.ts'
import { folderSettings } from '../trust/folder-settings.ts'
import type { FolderTrust } from '../trust/folder-trust.ts'
import { FOLDER_DATA, FOLDER_SETTINGS, settingsIn } from '../trust/settings-in.ts'
import type { LoadOptions, SettingProblem } from './load.ts'

/** One settings file that is read, by dotted keys. */
export interface SettingsLayer {
  readonly path: string
  /** True for the file of a trusted folder, which is not the person's own: it gets nothing of the environment. */
  readonly isOfFolder: boolean
  readonly values: ReadonlyMap<string, unknown>
}

const FILE_BYTES = 16 * 1024 * 1024

/**
 * The settings files that count, the first wins: the one that is named, and no other; else that of the folder that we are
 * called in, if it is trusted, then the person's own.
 */
export function settingsLayers(options: LoadOptions, trust: FolderTrust, problems: SettingProblem[]): readonly SettingsLayer[] {
  const { env, cwd, configFile } = options
  if (configFile === null) return []
  const named = configFile ?? env['PARLEY_CONFIG']
  if (named !== undefined && named !== '') {
    const what = configFile === undefined ? 'settings file' : '--config'
    return [readLayer({ what, path: resolve(cwd, named), isOfFolder: false }, problems)]
  }
  const { file } = folderSettings(trust)
  const own = ownSettingsFile(env)
  return [
    ...(file === undefined || file.path === own
      ? []
      : [parsedLayer({ what: 'settings file', path: file.path, isOfFolder: true }, () => file.text, problems)]),
    ...(isFile(own) ? [readLayer({ what: 'settings file', path: own, isOfFolder: false }, problems)] : []),
  ]
}

/** The person's own settings: of the clone that the program runs from, if it has any, else in their folder for such files. */
function ownSettingsFile(env: LoadOptions['env']): string {
  const clone = cloneFolder()
  const beside = clone === undefined ? undefined : join(clone, FOLDER_SETTINGS)
  return beside !== undefined && isFile(beside) ? beside : join(personFolders(env).config, FOLDER_SETTINGS)
}

/**
 * What lies in the folder that we are called in, looks like ours and is not read: one warning says how it would be. The data
 * folder of the clone itself is no foreign one, whichever instance is meant this time.
 */
export function unreadSettings(
  options: LoadOptions,
  trust: FolderTrust,
  dataDir: string,
  ownData = defaultDataDir(options.env),
): readonly SettingProblem[] {
  const { env, cwd, configFile, flags } = options
  if (configFile === null) return []
  const own = ownSettingsFile(env)
  const { refused } = folderSettings(trust)
  const isSaid = {
    [FOLDER_SETTINGS]: (configFile ?? env['PARLEY_CONFIG'] ?? '') !== '',
    [FOLDER_DATA]: flags?.dataDir !== undefined,
  }
  const unread = settingsIn(cwd).filter(({ name, path }) => {
    // Whoever names another one knows.
    if (isSaid[name] || path === own || isSame(path, resolve(cwd, dataDir)) || isSame(path, ownData)) return false
    return trust.kind !== 'trusted' || (name === FOLDER_SETTINGS && refused !== undefined)
  })
  if (unread.length === 0) return []
  const why = trust.kind === 'lost' ? trust.why : (refused ?? 'nothing of a folder counts unless you trust it')
  const ways = unread.map(({ name }) =>
    name === FOLDER_SETTINGS ? `move ${name} to ${own}` : `name ${name} with --data, or move it to ${dataDir}`,
  )
  const message = `not read: ${why}. parley trust ${inShell(cwd)} lets its settings count; or ${ways.join('; ')}`
  return [{ key: `${unread.map(({ path }) => path).join(', ')}:`, message, level: 'warning' }]
}

interface LayerFile {
  readonly what: string
  readonly path: string
  readonly isOfFolder: boolean
}

function readLayer(file: LayerFile, problems: SettingProblem[]): SettingsLayer {
  const { what, path } = file
  return parsedLayer(file, () => readGiven({ what, file: path, cwd: '/' }, FILE_BYTES).toString('utf8'), problems)
}

function parsedLayer({ what, path, isOfFolder }: LayerFile, read: () => string, problems: SettingProblem[]): SettingsLayer {
  try {
    return { path, isOfFolder, values: flatten(parseToml(read())) }
  } catch (error) {
    const text = messageOf(error).split('\n')[0] ?? ''
    const said = text.replace(`${what} ${path}`, '').replace(/^: /, '').trim()
    problems.push({ key: `${what} ${path}`, message: `cannot be read: ${said}`, level: 'error' })
    return { path, isOfFolder, values: new Map() }
  }
}

function flatten(table: TomlTable, prefix = ''): Map<string, unknown> {
  const flat = new Map<string, unknown>()
  for (const [key, value] of Object.entries(table)) {
    if (isTable(value)) for (const [inner, deep] of flatten(value, `${prefix}${key}.`)) flat.set(inner, deep)
    else flat.set(`${prefix}${key}`, value)
  }
  return flat
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function isSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return one === other
  }
}
