import type { Language } from '@parley/protocol'
import type { Sandbox } from '@parley/sandbox'
import { Cores } from '../box/cores.ts'
import { type ToolCandidate, type ToolPlaces, behindShim } from './find-tool.ts'
import { LANGUAGES } from './languages.ts'
import { probeLanguages } from './probe-languages.ts'

/** A language of this machine, and the tool by which a judge here would have it. */
export interface FoundLanguage {
  readonly language: Language
  readonly version: string
  readonly tool: string
}

/** One box is enough for questions that take milliseconds. */
const BOXES = 1

/** The languages that a judge on this machine would offer, found out as it does: by asking inside a box. */
export async function findLanguages(sandbox: Sandbox, places: ToolPlaces): Promise<readonly FoundLanguage[]> {
  const cores = new Cores(sandbox, BOXES)
  try {
    const found = await probeLanguages(cores, places)
    return [...found.values()].map(({ data, version, tool }) => ({ language: data.language, version, tool }))
  } finally {
    await cores.close()
  }
}

/** The programs that a version manager's shim may stand for, looked for where a judge looks. */
export function findBehindShim(path: string, places: Pick<ToolPlaces, 'homeFolder'>): Promise<readonly ToolCandidate[]> {
  return behindShim(path, [...new Set(LANGUAGES.flatMap((language) => language.behindShim))], places)
}
