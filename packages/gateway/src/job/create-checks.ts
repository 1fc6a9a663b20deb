import { JOB_LIMITS, ToolError, type ToolArguments } from '@parley/protocol'

export type CreateArguments = ToolArguments<'job.create'>

const CPP = /^cpp/

/** What the schema cannot say about the arguments of job.create. Answers the code to judge or to begin with. */
export function checkCreate(args: CreateArguments): { readonly code: string } {
  checkTexts(args)
  const code = codeOf(args)
  checkModel(args, code)
  if (args.tests_zip_b64 !== undefined && args.tests_blob !== undefined)
    throw wrong('tests_blob', 'does not go with tests_zip_b64', 'give one of them')
  if (args.tests_zip_b64 === undefined && args.tests_blob === undefined) {
    if (args.tests_format === 'manifest') throw wrong('tests_format', 'asks for a manifest, but there are no tests')
    if (args.samples !== undefined) throw wrong('samples', 'names cases, but there are no tests')
  }
  return { code }
}

/** Until a model is served, whoever names one is told so. */
function checkModel(args: CreateArguments, code: string): void {
  if (args.model !== undefined)
    throw new ToolError('not_found', `model: there is no model ${args.model}`, {
      field: 'model',
      hint: 'models.list names those there are; without a model current_code is judged as it is',
    })
  if (args.engine !== undefined) throw wrong('engine', 'goes with a model only')
  if (args.upstream_channel !== undefined && args.upstream_channel !== '')
    throw wrong('upstream_channel', 'goes with a model only')
  if (code === '')
    throw wrong('current_code', 'is needed without a model', 'give the code to judge, or the model that shall write it')
}

function codeOf({ language, current_code: code = '', current_code_cpp: cpp = '' }: CreateArguments): string {
  if (cpp === '') return code
  if (!CPP.test(language))
    throw wrong('current_code_cpp', `is C++, but the language is ${language}`, 'give the code as current_code')
  if (code !== '' && code !== cpp) throw wrong('current_code_cpp', 'differs from current_code', 'give one of them')
  return cpp
}

/** The schema counts characters; what is kept is bytes, and not every character can be kept. */
function checkTexts(args: CreateArguments): void {
  const { statementBytes, codeBytes } = JOB_LIMITS
  checkText('statement_md', args.statement_md, statementBytes)
  for (const field of ['current_code', 'current_code_cpp'] as const) checkText(field, args[field] ?? '', codeBytes)
  for (const field of ['checker', 'interactor'] as const) checkText(`${field}.source`, args[field]?.source ?? '', codeBytes)
  for (const field of ['title', 'model', 'upstream_channel'] as const) checkText(field, args[field] ?? '')
  for (const [index, sample] of (args.samples ?? []).entries()) checkText(`samples.${index}`, sample)
}

export function checkText(field: string, text: string, maxBytes = Infinity): void {
  if (Buffer.byteLength(text) > maxBytes) throw wrong(field, `has more than ${maxBytes} bytes`)
  if (text.includes('\0')) throw wrong(field, 'must not contain a NUL character')
  if (!text.isWellFormed()) throw wrong(field, 'is not well-formed Unicode: half of a surrogate pair is missing')
}

export const wrong = (field: string, fault: string, hint?: string): ToolError =>
  new ToolError('invalid_argument', `${field}: ${fault}`, { field, ...(hint === undefined ? {} : { hint }) })
