import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Preset } from '@parley/protocol'
import { tomlFault } from '@parley/policy'
import type { Presets } from './agent-world.ts'

const PRESET_FILE = /^([a-z0-9][a-z0-9-]{0,63})\.toml$/
/** So many are read, by their names, and so much of each. */
const PRESETS_MAX = 100
const PRESET_BYTES = 512 * 1024

/** Presets that are files of a folder, `NAME.toml`, and an empty `default` unless there is one. They are read each time. */
export function presetsIn(folder: string, parseToml: (text: string) => unknown): Presets {
  return async () => {
    const files = await readdir(folder).catch(() => [])
    const names = files.flatMap((file) => PRESET_FILE.exec(file)?.[1] ?? []).toSorted()
    const own = names
      .slice(0, PRESETS_MAX)
      .map(async (name) => [name, await presetIn(folder, `${name}.toml`, parseToml)] as const)
    return new Map([['default', Preset.parse({})], ...(await Promise.all(own))])
  }
}

/** One that is wrong is said by whoever asks for it, and is no trouble to others. */
async function presetIn(folder: string, file: string, parseToml: (text: string) => unknown): Promise<Preset | Error> {
  const wrong = (why: string): Error => new Error(`presets/${file}: ${why}`)
  try {
    const path = join(folder, file)
    const found = await stat(path)
    if (!found.isFile()) return wrong('is not a file')
    if (found.size > PRESET_BYTES) return wrong(`has more than ${PRESET_BYTES} bytes`)
    const parsed = Preset.safeParse(parseToml(await readFile(path, 'utf8')))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return wrong(`${issue?.path.join('.')} ${issue?.message}`.trim())
  } catch (error) {
    // Not the line itself: a preset may hold secrets, and whoever makes an agent reads this.
    return wrong(tomlFault(error))
  }
}
