import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { COMMANDS } from '../commands/table.ts'
import { runHere } from '../fixture/run-here.ts'
import { FIRST_WORDS, inShell, programName, withProgram } from './program.ts'

const bin = fileURLToPath(new URL('../../../../bin', import.meta.url))
const clone = join(bin, '..')
const folder = mkdtempSync(join(tmpdir(), 'parley-program-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A folder with a `parley` in it. */
function withParley(name: string, make: (path: string) => void): string {
  const made = join(folder, name)
  mkdirSync(made)
  make(join(made, 'parley'))
  return made
}

test('the words that make a command of it are those of the table', () => {
  expect([...new Set(COMMANDS.map(({ name }) => name.split(' ')[0] ?? ''))].toSorted()).toEqual(FIRST_WORDS)
})

test('it is called parley where PATH leads to this very one, and by its path elsewhere', () => {
  const linked = withParley('linked', (path) => symlinkSync(join(bin, 'parley'), path))
  const byNpm = withParley('by-npm', (path) => symlinkSync(join(bin, 'parley.js'), path))
  const foreign = withParley('foreign', (path) => {
    writeFileSync(path, '#!/bin/sh\n')
    chmodSync(path, 0o755)
  })
  const none = withParley('none', (path) => writeFileSync(path, 'no program'))
  const at = (cwd: string, ...path: string[]) => programName({ cwd, env: { PATH: path.join(delimiter) } })
  expect([at(folder, bin), at(folder, linked), at(folder, byNpm), at(folder, none, bin)]).toEqual(Array(4).fill('parley'))
  expect([at(folder, foreign, bin), at(folder, none), at(folder), programName({ cwd: folder, env: {} })]).toEqual(
    Array(4).fill(join(bin, 'parley')),
  )
  expect([at(clone, foreign), at(bin), at(join(clone, 'packages'))]).toEqual(['bin/parley', './parley', join(bin, 'parley')])
})

test.each([
  ['parley job list shows the ids', 'X job list shows the ids'],
  ['did you mean parley judge? (parley --help)', 'did you mean X judge? (X --help)'],
  ['`parley mcp add N -- CMD`, "parley user link N"', '`X mcp add N -- CMD`, "X user link N"'],
  ['Usage: parley COMMAND [OPTIONS]', 'Usage: X COMMAND [OPTIONS]'],
  ['parley: there is no user', 'parley: there is no user'],
  ['where parley joins in; parley jobs, parley upward', 'where parley joins in; parley jobs, parley upward'],
  ['/opt/parley job list, my-parley job, @parley up', '/opt/parley job list, my-parley job, @parley up'],
])('%j is told as %j', (text, told) => {
  expect(withProgram(text, 'X')).toBe(told)
  expect(withProgram(withProgram(text, '/a/bin/parley'), '/a/bin/parley')).toBe(withProgram(text, '/a/bin/parley'))
  expect(withProgram(text, 'parley')).toBe(text)
})

test('a path with anything in it is one word for a shell', () => {
  expect(['/a/b-c.d', "/it's here/$x"].map(inShell)).toEqual(['/a/b-c.d', `'/it'\\''s here/$x'`])
})

test('messages, hints and help of any command come in the words of the caller', async () => {
  const env = { PATH: '', HOME: folder }
  const here = (...args: string[]) => runHere(args, { cwd: clone, env })
  expect((await here('jib')).err).toBe('parley: there is no command jib (did you mean bin/parley job?)\n')
  expect((await here('token', 'revoke', 'x', '--json')).err).toContain('"hint":"bin/parley token list shows the ids"')
  const { out } = await here('--help')
  expect(out).toContain('Usage: bin/parley COMMAND')
  expect((await here('completion', '--help')).out).toContain('eval "$(bin/parley completion bash)"')
  expect((await here('help', 'judge')).out).toMatch(/bin\/parley\s+token\s+create\s+--role\s+judge\s+makes\s+one/)
})
