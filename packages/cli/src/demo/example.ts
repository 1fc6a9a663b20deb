import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Language, type ToolInput, languageOfFile } from '@parley/protocol'
import { noneOf } from '@parley/command-line'
import { EXAMPLES_FOLDER } from '../data/scripts.ts'
import { zipFolder } from '@parley/shell'

/** A problem with tests, the code of somebody who could not solve it, and a script that plays a model. */
export interface Example {
  readonly name: string
  readonly language: Language
  /** The first line of the statement. */
  readonly title: string
  readonly input: Omit<ToolInput<'job.create'>, 'model'>
}

/** The examples that come with the installation. */
export function exampleNames(folder = EXAMPLES_FOLDER): readonly string[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return names
    .map(({ name }) => name)
    .filter((name) => statSync(join(folder, name, 'script.json'), { throwIfNoEntry: false })?.isFile())
}

/** Reads an example by its name; any other is wrong usage. */
export function readExample(name: string, folder = EXAMPLES_FOLDER): Example {
  const names = exampleNames(folder)
  if (!names.includes(name)) throw noneOf('--example', name, names)
  const at = (...parts: string[]): string => join(folder, name, ...parts)
  const statement = readFileSync(at('problem.md'), 'utf8')
  const files = readdirSync(at())
  const source = (stem: string) => {
    const file = files.find((candidate) => candidate.startsWith(`${stem}.`))
    const language = file === undefined ? undefined : languageOfFile(file)
    return file === undefined || language === undefined ? undefined : { language, source: readFileSync(at(file), 'utf8') }
  }
  const code = source('code')
  if (code === undefined) throw new Error(`${at('code.*')} is missing`)
  const checker = source('checker')
  return {
    name,
    language: code.language,
    title: (statement.split('\n')[0] ?? name).replace(/^#+\s*/, ''),
    input: {
      statement_md: statement,
      language: code.language,
      current_code: code.source,
      tests_zip_b64: zipFolder(at('tests'), at('tests')).toString('base64'),
      ...(checker === undefined ? {} : { checker, compare_mode: 'checker' }),
    },
  }
}
