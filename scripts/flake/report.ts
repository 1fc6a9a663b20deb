import type { Order } from './arguments.ts'
import type { Finding, Findings } from './compare.ts'

export interface FinishedPart {
  readonly name: string
  readonly tests: number
  readonly findings: Findings
  readonly logs: readonly string[]
}

/** Everything that is listed at the end, part by part; empty when all was well each time. */
export function listFindings(parts: readonly FinishedPart[], order: Order): readonly string[] {
  return [
    ...section('not the same each time', parts, order, ({ changing }) => changing),
    ...section('failed each time', parts, order, ({ failing }) => failing),
    ...section('outside of any test', parts, order, ({ outside }) => outside),
  ]
}

function section(
  title: string,
  parts: readonly FinishedPart[],
  order: Order,
  pick: (findings: Findings) => readonly Finding[],
): readonly string[] {
  const lines = parts.flatMap((part) => pick(part.findings).flatMap((finding) => linesOf(finding, part, order)))
  return lines.length === 0 ? [] : [`${title}:`, ...lines, '']
}

function linesOf({ what, runs, of }: Finding, part: FinishedPart, order: Order): readonly string[] {
  const [first] = runs
  return [
    `  ${what}`,
    `    in ${runs.length} of ${of} runs of ${part.name}`,
    ...runs.map(
      ({ run, seed, words }) =>
        `    run ${run}, seed ${seed}${words === '' ? '' : `: ${words}`}, log ${part.logs[run - 1] ?? 'lost'}`,
    ),
    ...(first === undefined ? [] : [`    again: ${againLine(order, part.name, first.seed)}`]),
  ]
}

/** The command that runs the same files in the same order. */
function againLine({ paths, load }: Order, part: string, seed: number): string {
  const words = [...paths.map(quoted), '--part', part, '--seed', String(seed), '--times', '1', ...(load ? ['--load'] : [])]
  return `npm run flake -- ${words.join(' ')}`
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
