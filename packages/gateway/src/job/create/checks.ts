import { JOB_LIMITS, TOOLS, type ToolArguments, ToolError, isPriced, wrongArgument } from '@parley/protocol'
import type { ModelDirectory } from '@parley/models'

export type CreateArguments = ToolArguments<'job.create'>

const DEFAULT_ATTEMPTS = TOOLS['job.create'].input.shape.max_attempts.parse(undefined)
const NEEDS_MODEL = ['goes with a model only', 'give model too; models.list names those there are'] as const
const NEEDS_TESTS = [
  'is needed without a model: there is nothing to judge the code by',
  'give a zip of the cases (1.in and 1.out, …) as tests_zip_b64, or upload one with blob.* and name it as tests_blob',
] as const
const CPP = /^cpp/

/** What the schema cannot say about the arguments of job.create. Answers the code to judge or to begin with. */
export function checkCreate(args: CreateArguments): { readonly code: string } {
  checkTexts(args)
  const code = codeOf(args)
  checkModel(args, code)
  if (args.tests_zip_b64 !== undefined && args.tests_blob !== undefined)
    throw wrongArgument('tests_blob', 'does not go with tests_zip_b64', 'give one of them')
  if (args.tests_zip_b64 === undefined && args.tests_blob === undefined) {
    if (args.tests_format === 'manifest') throw wrongArgument('tests_format', 'asks for a manifest, but there are no tests')
    if (args.samples !== undefined) throw wrongArgument('samples', 'names cases, but there are no tests')
    if (args.model === undefined) throw wrongArgument('tests_zip_b64', ...NEEDS_TESTS)
  }
  return { code }
}

/** What goes with a model alone, and what is needed without one or with one. */
function checkModel(args: CreateArguments, code: string): void {
  if (args.model !== undefined) {
    if (code === '' && args.statement_md.trim() === '') throw wrongArgument('statement_md', 'is empty, and so is current_code')
    return
  }
  for (const field of ['engine', 'budget'] as const) if (args[field] !== undefined) throw wrongArgument(field, ...NEEDS_MODEL)
  if (args.max_attempts !== DEFAULT_ATTEMPTS) throw wrongArgument('max_attempts', ...NEEDS_MODEL)
  if (args.upstream_channel !== undefined && args.upstream_channel !== '') throw wrongArgument('upstream_channel', ...NEEDS_MODEL)
  if (code === '')
    throw wrongArgument('current_code', 'is needed without a model', 'give the code to judge, or the model that shall write it')
}

/** The model that is meant, by its channel; null without one. A bound in money needs a price to count by. */
export async function checkRoute(
  args: Pick<CreateArguments, 'model' | 'upstream_channel' | 'budget'>,
  directory: Pick<ModelDirectory, 'resolve'>,
): Promise<{ readonly channel: string } | null> {
  if (args.model === undefined) return null
  const { channel, prices } = await directory.resolve(args.model, args.upstream_channel || null).catch((error: unknown) => {
    throw orWithoutModel(error)
  })
  if ((args.budget?.microusd ?? null) !== null && !isPriced(prices))
    throw wrongArgument('budget.microusd', `${args.model} has no price to count by`, 'bound it by budget.tokens')
  return { channel: channel.name }
}

/** A job needs no model. */
function orWithoutModel(error: unknown): unknown {
  if (!(error instanceof ToolError) || error.code !== 'not_found' || error.field !== 'model') return error
  const hint = `${error.hint ?? ''}; without a model current_code is judged as it is`
  return new ToolError(error.code, error.message, { field: error.field, hint, cause: error })
}

function codeOf({ language, current_code: code = '', current_code_cpp: cpp = '' }: CreateArguments): string {
  if (cpp === '') return code
  if (!CPP.test(language))
    throw wrongArgument('current_code_cpp', `is C++, but the language is ${language}`, 'give the code as current_code')
  if (code !== '' && code !== cpp) throw wrongArgument('current_code_cpp', 'differs from current_code', 'give one of them')
  return cpp
}

/** The schema counts characters; what is kept is bytes. */
function checkTexts(args: CreateArguments): void {
  const { statementBytes, codeBytes } = JOB_LIMITS
  checkSize('statement_md', args.statement_md, statementBytes)
  for (const field of ['current_code', 'current_code_cpp'] as const) checkSize(field, args[field] ?? '', codeBytes)
  for (const field of ['checker', 'interactor'] as const) checkSize(`${field}.source`, args[field]?.source ?? '', codeBytes)
}

function checkSize(field: string, text: string, maxBytes: number): void {
  if (Buffer.byteLength(text) > maxBytes) throw wrongArgument(field, `has more than ${maxBytes} bytes`)
}
