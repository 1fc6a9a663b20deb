import { COMMON_OPTIONS, type CommandSpec, type OptionSpec } from './command.ts'

/** The help for one command, for a group of them, or for all. */
export function helpFor(words: string, commands: readonly CommandSpec[]): string {
  const exact = commands.find(({ name }) => name === words)
  if (exact !== undefined) return commandHelp(exact, commands)
  const group = words === '' ? commands : commands.filter(({ name }) => name.startsWith(`${words} `))
  const title = words === '' ? 'Parley: where people, coding agents and judges meet, over MCP.\n\n' : ''
  return [
    `${title}Usage: parley ${words === '' ? '' : `${words} `}COMMAND [OPTIONS]\n`,
    columns(group.map(({ name, summary }) => [name, summary])),
    `\nparley COMMAND --help says more.\n`,
  ].join('\n')
}

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
  const more = commands.flatMap(({ name, summary }) => (name.startsWith(`${command.name} `) ? [[name, summary] as const] : []))
  const options = Object.entries<OptionSpec>({ ...command.options, ...COMMON_OPTIONS })
  return [
    `${command.summary}\n`,
    `Usage: ${usage}\n`,
    ...(positionals.length === 0
      ? []
      : [`${columns(positionals.map(({ name, doc, choices }) => [name, withChoices(doc, choices)]))}\n`]),
    columns(options.map(([name, option]) => [optionName(name, option), withChoices(option.doc, option.choices)])),
    '',
    ...(command.notes ?? []).map((note) => `${note}\n`),
    ...(more.length === 0 ? [] : ['Also:\n', `${columns(more)}\n`]),
  ].join('\n')
}

function optionName(name: string, { value, short }: OptionSpec): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
}

function withChoices(doc: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? doc : `${doc} (${choices.join(', ')})`
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}
