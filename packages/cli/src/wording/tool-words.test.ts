import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TOOLS } from '@parley/protocol'
import { expect, test } from 'vitest'
import { COMMANDS } from '../commands/table.ts'
import { COMMAND_OF, inCommands } from '@parley/command-line/wording'

const GATEWAY = fileURLToPath(new URL('../../../gateway/src/', import.meta.url))

/** Tools that hints name to programs alone: the shell calls them itself, or never, and nobody who types is told of them. */
const FOR_PROGRAMS = [
  'blob.abort',
  'blob.begin',
  'blob.commit',
  'blob.write',
  'job.read_log',
  'job.subscribe',
  'job.unsubscribe',
  'host.agent_get',
  'host.claim_next',
  'host.end_prompt',
  'host.next_prompt',
  'job.wait',
  'judge.claim_next',
  'judge.input.list',
  'judge.prepare_generate',
  'worker.heartbeat',
]

/** Texts for people in a source: those with a space in them. */
function textsIn(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
  return [...code.matchAll(/'([^'\n]*)'|`([^`\n]*)`/g)]
    .map(([, plain, template]) => plain ?? template ?? '')
    .filter((text) => text.includes(' '))
}

test('every tool that a text of the gateway names has a command, or is for programs', () => {
  const texts = globSync('**/*.ts', { cwd: GATEWAY, exclude: ['**/*.test.ts', '**/fixture/**'] }).flatMap((file) =>
    textsIn(readFileSync(join(GATEWAY, file), 'utf8')),
  )
  const named = new Set(
    texts.flatMap((text) => text.match(/(?<![\w.])[a-z]+(?:\.[a-z_]+)+/g) ?? []).filter((name) => Object.hasOwn(TOOLS, name)),
  )
  // Were the texts not found, nothing would be compared.
  expect([...named]).toEqual(expect.arrayContaining(['user.promote', 'usage.summary', 'models.list', 'job.read_log']))
  expect([...named].filter((name) => !Object.hasOwn(COMMAND_OF, name) && !FOR_PROGRAMS.includes(name))).toEqual([])
})

test('the table names tools that there are and commands that there are', () => {
  expect(Object.keys(COMMAND_OF).filter((name) => !Object.hasOwn(TOOLS, name))).toEqual([])
  const commands = new Set(COMMANDS.map(({ name }) => `parley ${name}`))
  expect(Object.values(COMMAND_OF).filter((text) => !commands.has(text.replace(/ [A-Z]+$/, '')))).toEqual([])
})

test.each([
  ['make somebody else an admin first: user.promote', 'make somebody else an admin first: parley user promote NAME'],
  ['usage.summary shows your quota; an admin can change it', 'parley quota show shows your quota; an admin can change it'],
  [
    'channel.list names those there are; channel.set adds one',
    'parley channel list names those there are; parley channel set NAME adds one',
  ],
  ['models.list with live says why; models.list', 'parley model list --live says why; parley model list'],
  ['job.cancel first.', 'parley job cancel JOB first.'],
  ['judge.job.list, job.list.x, my-job.listing', 'judge.job.list, job.list.x, my-job.listing'],
])('%j is told as %j', (hint, told) => {
  expect(inCommands(hint)).toBe(told)
})
