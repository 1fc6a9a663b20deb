import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scripts } from '@parley/models'
import { fileURLToPath } from 'node:url'
import type { DataDir } from './data-dir.ts'

/** Problems with statement, tests and script that come with the installation. */
export const EXAMPLES_FOLDER = fileURLToPath(new URL('../../../../examples/', import.meta.url))

/** A name and nothing else: whoever sets up a channel must not be able to read other files of this machine. */
const SCRIPT_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
/** A script that does not fit in this is none. */
const SCRIPT_BYTES = 32 * 1024 * 1024

/** The scripts of an instance, `DATA/scripts/NAME.json`, and those of the examples; one of the instance's own goes first. */
export function scriptsOf({ scripts }: Pick<DataDir, 'scripts'>, examples = EXAMPLES_FOLDER): Scripts {
  const placesOf = (name: string): string[] => [join(scripts, `${name}.json`), join(examples, name, 'script.json')]
  return {
    async read(name) {
      if (!SCRIPT_NAME.test(name)) return undefined
      for (const path of placesOf(name)) {
        const text = await readBounded(path)
        if (text !== undefined) return text
      }
      return undefined
    },
    async names() {
      const own = (await readdir(scripts).catch(() => [])).flatMap((file) => file.match(/^(.+)\.json$/)?.[1] ?? [])
      const given = await readdir(examples).catch(() => [])
      const found: string[] = []
      for (const name of new Set([...own, ...given])) {
        if (!SCRIPT_NAME.test(name)) continue
        const sizes = await Promise.all(placesOf(name).map((path) => stat(path).catch(() => undefined)))
        if (sizes.some((entry) => entry?.isFile() === true)) found.push(name)
      }
      return found.toSorted()
    },
  }
}

async function readBounded(path: string): Promise<string | undefined> {
  const entry = await stat(path).catch(() => undefined)
  return entry?.isFile() === true && entry.size <= SCRIPT_BYTES ? readFile(path, 'utf8') : undefined
}
