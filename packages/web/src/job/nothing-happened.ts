import type { JobState } from '@parley/protocol'
import { plainText } from '../text/plain-text.ts'

/** Of a job that is over and has no timeline: why, as far as it is known. `waited` is what it waited for when last heard of. */
export function nothingHappened({ claims }: Pick<JobState, 'claims'>, waited: string | undefined): string {
  if (claims > 0) return 'Nothing was told of it.'
  const why = waited === undefined ? '' : ` It had waited: ${plainText(waited)}.`
  return `Nothing happened: no judge had taken it.${why}`
}
