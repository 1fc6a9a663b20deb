import type { Cores } from '../box/cores.ts'
import type { ToolPlaces } from './find-tool.ts'
import type { LanguageData } from './language-data.ts'
import { LANGUAGES } from './languages.ts'
import { type Toolchain, probeLanguage } from './toolchain.ts'

/** The languages of this machine, by name. Those that share a tool are asked once. */
export async function probeLanguages(cores: Cores, places: ToolPlaces): Promise<ReadonlyMap<string, Toolchain>> {
  const never = new AbortController().signal
  const byTool = [...Map.groupBy(LANGUAGES, ({ tool }) => tool).values()]
  const found = await Promise.all(
    byTool.map(async (languages) => {
      const held = await cores.one({ owner: null }, never)
      try {
        return await probeTool(languages, places, await held.place.box('program'))
      } finally {
        held.release()
      }
    }),
  )
  const known = new Map(found.flat().map((toolchain) => [toolchain.data.language, toolchain]))
  return new Map(
    LANGUAGES.flatMap(({ language }) => {
      const one = known.get(language)
      return one === undefined ? [] : [[language, one]]
    }),
  )
}

async function probeTool(
  languages: readonly LanguageData[],
  places: ToolPlaces,
  box: Parameters<typeof probeLanguage>[2],
): Promise<readonly Toolchain[]> {
  const [first] = languages
  const toolchain = first === undefined ? undefined : await probeLanguage(first, places, box)
  return toolchain === undefined ? [] : languages.map((data) => ({ ...toolchain, data }))
}
