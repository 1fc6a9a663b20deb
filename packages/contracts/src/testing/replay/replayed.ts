import { isJsonObject } from '@parley/protocol'
import type { Scenario, Step } from '../../record/scenario.ts'
import type { RecordedLine } from '../../registry/registry-types.ts'
import type { Exception } from './exception.ts'

/** What is played, what of the recording is compared with it, and the exceptions that made a difference. */
export interface Replayed {
  readonly steps: readonly Step[]
  readonly recorded: readonly RecordedLine[]
  readonly used: ReadonlySet<string>
}

/** Leaves out what exceptions say is not sent, on both sides, and changes what is sent otherwise. */
export function replayedOf(
  { steps }: Pick<Scenario, 'steps'>,
  recorded: readonly RecordedLine[],
  exceptions: readonly Exception[],
): Replayed {
  const used = new Set<string>()
  const excuses = exceptions.flatMap(({ name, excuses: some }) => some.map((excuse) => ({ name, excuse })))
  const isSent = (step: Step): boolean => {
    const found = excuses.find(({ excuse }) => 'notSent' in excuse && excuse.notSent(step))
    if (found !== undefined) used.add(found.name)
    return found === undefined
  }
  const ids = new Set(idsOf(recorded).filter((_, index) => !isSent(steps.filter(isRequest)[index] ?? { tell: '' })))
  const played = steps.filter(isSent).map((step) =>
    excuses.reduce((sent, { name, excuse }) => {
      const other = 'sent' in excuse ? excuse.sent(sent) : sent
      if (other !== sent) used.add(name)
      return other
    }, step),
  )
  return { steps: played, recorded: recorded.filter((line) => !ids.has(ofClient(line) ?? Number.NaN)), used }
}

const isRequest = (step: Step): boolean => 'ask' in step || 'begin' in step || 'bad' in step || 'unanswered' in step

const idsOf = (lines: readonly RecordedLine[]): readonly number[] =>
  lines.flatMap((line) => (line.dir === '>' ? (ofClient(line) ?? []) : []))

/** The id of the client's request that a line is, or answers. */
function ofClient({ dir, message }: RecordedLine): number | undefined {
  if (!isJsonObject(message) || typeof message['id'] !== 'number') return undefined
  return (dir === '>') === (message['method'] !== undefined) ? message['id'] : undefined
}
