import { broken, widthOf } from '@parley/screen'
import { COMMON_OPTIONS, type CommandGroup, type CommandSpec, type OptionSpec } from './command.ts'

/** What every terminal has. */
const COLUMNS = 80
/** An option that is longer than this stands on a line of its own. */
const LEFT_MAX = 26

/**
 * The help for one command, for those that begin with these words, for a group of them, or for all. `typed` puts in the
 * program as it is called here.
 */
export function helpFor(words: string, told: readonly CommandGroup[], typed: (text: string) => string = asWritten): string {
  // Before lines are broken: a command that a line end cuts in two would not be recognised, and a path is longer than a name.
  const groups = told.map((group) => ({ ...group, commands: group.commands.map((command) => inWords(command, typed)) }))
  return typed(textFor(words, groups))
}

const asWritten = (text: string): string => text

function inWords(command: CommandSpec, typed: (text: string) => string): CommandSpec {
  const options: Record<string, OptionSpec> = {}
  for (const [name, spec] of Object.entries<OptionSpec>(command.options)) options[name] = { ...spec, doc: typed(spec.doc) }
  return {
    ...command,
    summary: typed(command.summary),
    options,
    ...(command.more === undefined ? {} : { more: typed(command.more) }),
    ...(command.notes === undefined ? {} : { notes: command.notes.map(typed) }),
  }
}

function textFor(words: string, groups: readonly CommandGroup[]): string {
  const commands = groups.flatMap((group) => group.commands)
  const exact = commands.find(({ name }) => name === words)
  if (exact !== undefined) return commandHelp(exact, commands)
  if (words === '') return wholeHelp(groups)
  const begun = commands.filter(({ name }) => name.startsWith(`${words} `))
  const group = groups.find(({ name }) => name === words)
  const usage = begun.length > 0 ? `${words} COMMAND` : 'COMMAND'
  // The word of a group may be the first of some of its commands as well: who asks for it wants to see all of it.
  const others = group?.commands.filter((command) => !begun.includes(command)) ?? []
  const lists = [begun, others].filter((commands) => commands.length > 0)
  return [
    `Usage: parley ${usage} [OPTIONS]\n`,
    lists.map((commands) => listOf(commands)).join(`\n\nAlso about ${group?.title}:\n\n`),
    `\nparley ${usage} --help says more.\n`,
  ].join('\n')
}

/** Whether there is help under these words. */
export function hasHelp(words: string, groups: readonly CommandGroup[]): boolean {
  const isName = ({ name }: CommandSpec): boolean => name === words || name.startsWith(`${words} `)
  return words === '' || groups.some(({ name, commands }) => name === words || commands.some(isName))
}

function wholeHelp(groups: readonly CommandGroup[]): string {
  const width = Math.max(...groups.flatMap(({ commands }) => commands.map(({ name }) => name.length)))
  const names = groups.map(({ name }) => name).join(', ')
  return [
    'Parley: where people, coding agents and judges meet, over MCP.\n',
    'Usage: parley COMMAND [OPTIONS]\n',
    ...groups.map(({ title, commands }) => `${title}\n${listOf(commands, width)}\n`),
    `parley COMMAND --help says more, parley help GROUP shows one of these groups:\n${names}.\n`,
  ].join('\n')
}

const listOf = (commands: readonly CommandSpec[], width?: number): string =>
  pairs(
    commands.map(({ name, summary }) => [name, summary]),
    width,
  )

function commandHelp(command: CommandSpec, commands: readonly CommandSpec[]): string {
  const positionals = command.positionals ?? []
  const words = positionals.map(({ name, optional }) => (optional === true ? `[${name}]` : name))
  const usage = [
    'parley',
    command.name,
    '[OPTIONS]',
    ...words,
    ...(command.rest === undefined ? [] : [`[-- ${command.rest}]`]),
  ].join(' ')
  const also = commands.filter(({ name }) => name.startsWith(`${command.name} `))
  const options = Object.entries<OptionSpec>({ ...command.options, ...COMMON_OPTIONS })
  return [
    `${[command.summary, ...(command.more === undefined ? [] : paragraph(command.more))].join('\n')}\n`,
    `Usage: ${usage}\n`,
    ...(positionals.length === 0 ? [] : [`${pairs(positionals.map((spec) => [spec.name, withChoices(spec)]))}\n`]),
    pairs(options.map(([name, option]) => [optionName(name, option), withChoices(option)])),
    '',
    ...(command.notes ?? []).map((note) => `${paragraph(note).join('\n')}\n`),
    ...(also.length === 0 ? [] : ['Also:\n', `${listOf(also)}\n`]),
  ].join('\n')
}

function optionName(name: string, { value, short }: OptionSpec): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
}

function withChoices({ doc, choices }: { readonly doc: string; readonly choices?: readonly string[] }): string {
  return choices === undefined ? doc : `${doc} (${choices.join(', ')})`
}

const paragraph = (text: string): string[] => broken(text, COLUMNS)

/** Two columns: what it is called, and what it is, which goes on below itself. */
function pairs(rows: readonly (readonly [string, string])[], least = 0): string {
  const widths = rows.map(([left]) => left.length).filter((width) => width <= LEFT_MAX)
  const width = Math.max(least, 0, ...widths)
  const indent = ' '.repeat(width + 4)
  return rows
    .flatMap(([left, right]) => {
      const [first = '', ...more] = broken(right, COLUMNS - indent.length)
      const below = more.map((line) => indent + line)
      if (widthOf(left) > width) return [`  ${left}`, indent + first, ...below]
      return [`  ${left.padEnd(width)}  ${first}`.trimEnd(), ...below]
    })
    .join('\n')
}
