import { type JsonObject, type JsonValue, parseJson } from '@parley/protocol'
import { parse } from 'smol-toml'

/** `-c key=value`, as Codex reads them: the value is TOML, and a text where it is none. The last of a key wins. */
export function readOverrides(overrides: readonly string[]): JsonObject {
  const config: Record<string, JsonValue> = {}
  for (const override of overrides) {
    const at = override.indexOf('=')
    config[override.slice(0, at).trim()] = valueOf(override.slice(at + 1).trim())
  }
  return config
}

function valueOf(text: string): JsonValue {
  try {
    // Dates and the like become texts, as they are in JSON.
    return parseJson(JSON.stringify(parse(`value = ${text}`)['value'])) ?? text
  } catch {
    return text.replaceAll(/^["']|["']$/g, '')
  }
}
