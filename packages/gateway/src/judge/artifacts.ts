import { JOB_LIMITS, type ToolArguments, ToolError, wrongArgument } from '@parley/protocol'
import { type Judgeable, checkedReport } from './counts.ts'

/** Names that have an argument of their own, or that the gateway writes. */
const FIELD_OF: ReadonlyMap<string, string> = new Map([
  ['report.json', 'report_json'],
  ['solution.json', 'solution_json'],
  ['usage.json', 'judge.usage.ingest'],
])
const NAME_PART = /^[A-Za-z0-9._-]{1,128}$/
const NAME_DEPTH = 8

/** One thing a job produced, before it is stored. */
export interface NewArtifact {
  readonly name: string
  readonly bytes: Buffer
}

/**
 * What is in the call, checked. Judges of the first protocol send `{}` and an empty text for what they do not have:
 * those are not stored, so that nobody takes them for a result.
 */
export function readArtifacts(
  args: ToolArguments<'judge.job.put_artifacts'>,
  known: readonly string[],
  judgeable: Judgeable,
): readonly NewArtifact[] {
  const { main_cpp, solution_json, report_json, files = {} } = args
  const found: NewArtifact[] = []
  const add = (name: string, field: string, text: string): void => {
    const bytes = Buffer.from(text)
    if (bytes.length > JOB_LIMITS.artifactBytes) throw wrongArgument(field, `must have at most ${JOB_LIMITS.artifactBytes} bytes`)
    found.push({ name, bytes })
  }
  for (const [name, text] of Object.entries(files)) {
    checkName(name)
    add(name, `files.${name}`, text)
  }
  if (main_cpp !== undefined && main_cpp !== '') add('main.cpp', 'main_cpp', main_cpp)
  if (!isEmpty(solution_json)) add('solution.json', 'solution_json', JSON.stringify(solution_json))
  if (!isEmpty(report_json)) {
    if (typeof report_json['status'] !== 'string' || report_json['status'] === '')
      throw wrongArgument('report_json.status', 'a report says succeeded, failed or cancelled')
    add('report.json', 'report_json', JSON.stringify(checkedReport(report_json, judgeable)))
  }
  // Whatever else there is, the two that others write have their place.
  const count = new Set([...known, ...found.map(({ name }) => name), 'report.json', 'usage.json']).size
  if (found.length > 0 && count > JOB_LIMITS.artifacts)
    throw new ToolError(
      'quota_exceeded',
      `a job has at most ${JOB_LIMITS.artifacts} artifacts, report.json and usage.json among them`,
      { field: 'files' },
    )
  return found
}

function checkName(name: string): void {
  const field = `files.${name}`
  const parts = name.split('/')
  const isSafe = parts.length <= NAME_DEPTH && parts.every((part) => NAME_PART.test(part) && part !== '.' && part !== '..')
  if (!isSafe)
    throw wrongArgument(field, `a name is at most ${NAME_DEPTH} parts of letters, digits, dots, - and _, with / between them`)
  const own = FIELD_OF.get(name)
  if (own !== undefined) throw wrongArgument(field, `goes by ${own}`)
}

function isEmpty(document: Record<string, unknown> | undefined): document is undefined {
  return document === undefined || Object.keys(document).length === 0
}
