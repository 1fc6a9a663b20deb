import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { CompareMode, JOB_LIMITS, Language, type ToolInput, languageOfFile } from '@parley/protocol'
import { atPath, type Invocation, noneOf, usageError } from '@parley/command-line'
import { readGiven, readGivenText, wholeNumber } from '@parley/command-line/commands'
import { looksLikeZip } from './looks-like-zip.ts'
import { modelOf, refuseModelOptions } from './model-options.ts'
import { zipFolder } from './zip-folder.ts'

/** What a person hands in, read and checked as far as that can be done here. */
export interface Submission {
  /** A model is to write the solution; the gateway knows which there are. */
  readonly needsModel: boolean
  readonly input: Omit<ToolInput<'job.create'>, 'tests_zip_b64' | 'tests_blob'>
  readonly zip: Buffer | undefined
}

/** Reads the files that the flags name. What is wrong with a flag says so by the flag's name. */
export function submissionOf({ values, io }: Pick<Invocation, 'values' | 'io'>): Submission {
  const read = (flag: string, limitBytes: number): string | undefined => {
    const file = values.text(flag)
    return file === undefined ? undefined : readGivenText({ what: `--${flag}`, file, cwd: io.cwd }, limitBytes)
  }
  if (values.text('statement') === '-' && values.text('code') === '-')
    throw usageError('--statement - and --code - cannot both be standard input')
  const statement = read('statement', JOB_LIMITS.statementBytes)
  const code = read('code', JOB_LIMITS.codeBytes)
  const model = values.text('model')
  if (values.has('judge-only')) {
    if (code === undefined) throw usageError('--judge-only needs --code: that is what is judged')
    if (model !== undefined)
      throw usageError('--judge-only and --model exclude each other', 'without --judge-only the model repairs the code')
  }
  if (code === undefined && statement === undefined && model === undefined)
    throw usageError(
      'there is nothing to do: give --code to have it judged, or --statement to have it solved',
      'parley job submit --help',
    )
  if (statement === undefined && model !== undefined)
    throw usageError('--model needs --statement: nobody can solve what nobody stated')
  const needsModel = !values.has('judge-only') && statement !== undefined
  if (!needsModel) refuseModelOptions(values)
  // A statement has a title of its own.
  const title = values.text('title') ?? (statement === undefined ? titleOf(values.text('code')) : undefined)
  const samples = values.text('sample')
  return {
    needsModel,
    input: {
      statement_md: statement ?? '',
      ...(title === undefined ? {} : { title }),
      language: languageFor(values.text('language'), 'code', values.text('code')),
      ...modelOf(values),
      ...(code === undefined ? {} : { current_code: code }),
      ...(samples === undefined ? {} : { samples: samples.split(',').map((name) => name.trim()) }),
      ...limitsOf(values),
      ...checkingOf({ values, io }),
    },
    zip: zipOf(io.cwd, values.text('tests')),
  }
}

function languageFor(given: string | undefined, flag: string, file: string | undefined): Language {
  const parsed = Language.safeParse(given)
  if (parsed.success) return parsed.data
  if (file === undefined) return 'cpp'
  const guessed = languageOfFile(file)
  if (guessed === undefined)
    throw usageError(
      `--${flag} ${file}: ${file === '-' ? 'standard input' : 'the name'} does not tell the language`,
      flag === 'code' ? `say it by --language: ${Language.options.join(', ')}` : 'name the file as usual: .cpp, .py, …',
    )
  return guessed
}

function limitsOf(values: Invocation['values']): Partial<Submission['input']> {
  const time = wholeNumber(values, 'time-ms', JOB_LIMITS.timeLimitMs)
  const memory = wholeNumber(values, 'memory-mb', JOB_LIMITS.memoryLimitMb)
  return {
    ...(time === undefined ? {} : { time_limit_ms: time }),
    ...(memory === undefined ? {} : { memory_limit_mb: memory }),
  }
}

/** `--checker` is a way to compare by its name, or the file of a program that compares. */
function checkingOf({ values, io }: Pick<Invocation, 'values' | 'io'>): Partial<Submission['input']> {
  const program = (flag: string, file: string) => {
    const source = readGivenText({ what: `--${flag}`, file, cwd: io.cwd }, JOB_LIMITS.codeBytes)
    return { language: languageFor(undefined, flag, file), source }
  }
  const interactor = values.text('interactor')
  const checker = values.text('checker')
  const mode = COMPARE_BY_NAME.safeParse(checker)
  if (checker !== undefined && !mode.success && !looksLikePath(io.cwd, checker))
    throw noneOf('--checker', checker, COMPARE_BY_NAME.options, CHECKER_PATH)
  return {
    ...(interactor === undefined ? {} : { interactor: program('interactor', interactor), compare_mode: 'interactive' }),
    ...(checker === undefined
      ? {}
      : mode.success
        ? { compare_mode: mode.data }
        : { checker: program('checker', checker), ...(interactor === undefined ? { compare_mode: 'checker' } : {}) }),
  }
}

const COMPARE_BY_NAME = CompareMode.exclude(['checker', 'interactive'])
const CHECKER_PATH = 'A checker of your own is given by the path of its source, as in ./checker.cpp.'

/** A word that names no file and has neither a folder nor an ending was meant as a name. */
function looksLikePath(cwd: string, text: string): boolean {
  return /[/\\.]/.test(text) || statSync(resolve(cwd, text), { throwIfNoEntry: false }) !== undefined
}

function zipOf(cwd: string, file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined
  const path = resolve(cwd, file)
  if (atPath(`--tests ${file}`, () => statSync(path)).isDirectory()) return zipFolder(path, `--tests ${file}`)
  const bytes = readGiven({ what: '--tests', file, cwd }, JOB_LIMITS.zipBytes)
  if (!looksLikeZip(bytes))
    throw usageError(
      `--tests ${file}: not a zip; give a zip of the cases, or a folder with them`,
      'each case is a file such as 1.in with its answer 1.out beside it',
    )
  return bytes
}

const TITLE_CHARS = 200
function titleOf(file: string | undefined): string {
  return file === undefined || file === '-' ? '' : basename(file).slice(0, TITLE_CHARS)
}
