import type { SteadyClient } from '@parley/client'
import { type JobState, Solution, Usage, mainFile } from '@parley/protocol'

/** What a finished job left behind, as far as it is shown. */
export interface ShownArtifacts {
  readonly codeName: string
  readonly code: string | undefined
  readonly solution: Solution | undefined
  readonly usage: Usage | undefined
}

export async function readArtifacts(link: SteadyClient, { job_id, language }: JobState): Promise<ShownArtifacts> {
  const codeName = mainFile(language)
  const { items } = await link.onceNow('job.get_artifacts', { job_id, names: [codeName, 'solution.json', 'usage.json'] })
  const code = items[codeName]
  return {
    codeName,
    code: typeof code === 'string' ? code : undefined,
    solution: Solution.safeParse(items['solution.json']).data,
    usage: Usage.safeParse(items['usage.json']).data,
  }
}
