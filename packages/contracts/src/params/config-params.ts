import { type JsonObject, isJsonObject } from '@parley/protocol'
import { type ParamLayer, type ParamProblem, type ParamsChecked, problemOf } from './param-check.ts'
import { type CodexVersion, isWithin } from '../version/version.ts'

/** A setting of `config.toml` that some versions do not read. */
interface ConfigParam {
  /** Its dotted key. */
  readonly key: RegExp
  /** Only this value of it. */
  readonly value?: string
  /** The last version that reads it. A file with it stops every later one. */
  readonly hadUntil: string
}

const CONFIG_PARAMS: readonly ConfigParam[] = [
  { key: /^profile$/, hadUntil: '0.146' },
  { key: /^model_providers\.[^.]+\.wire_api$/, value: 'chat', hadUntil: '0.94' },
]

/** Whether any setting of this kind is lacking in some version, so that it is worth asking for the version. */
export function hasVersionedSettings(config: JsonObject): boolean {
  return walk(config, '', () => true).found.length > 0
}

/**
 * What becomes of settings on a version, written with dotted keys, in tables, or both: on the command line one that it
 * lacks is an error, in configuration a warning, and it is left out.
 */
export function checkConfig(config: JsonObject, version: CodexVersion, layer: ParamLayer): ParamsChecked {
  const { kept, found } = walk(config, '', ({ hadUntil }) => !isWithin(version, null, hadUntil))
  const problems = found.map(({ at, row }): ParamProblem => {
    const value = row.value === undefined ? {} : { value: row.value }
    return problemOf({ param: at, ...value, minVersion: null, maxVersion: row.hadUntil, evidence: 'observed' }, version, layer)
  })
  return { params: layer === 'config' ? kept : config, problems }
}

interface Walked {
  readonly kept: JsonObject
  readonly found: readonly { readonly at: string; readonly row: ConfigParam }[]
}

function walk(table: JsonObject, above: string, lacks: (row: ConfigParam) => boolean): Walked {
  const kept: [string, JsonObject[string]][] = []
  const found: { at: string; row: ConfigParam }[] = []
  for (const [name, value] of Object.entries(table)) {
    const at = `${above}${name}`
    const row = CONFIG_PARAMS.find((param) => param.key.test(at) && (param.value === undefined || param.value === value))
    if (row !== undefined && lacks(row)) found.push({ at, row })
    else if (isJsonObject(value)) {
      const below = walk(value, `${at}.`, lacks)
      found.push(...below.found)
      kept.push([name, below.kept])
    } else kept.push([name, value])
  }
  return { kept: Object.fromEntries(kept), found }
}
