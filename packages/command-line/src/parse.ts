import { parseArgs } from 'node:util'
import { COMMON_OPTIONS, type CommandSpec, type OptionSpec, Values } from './command.ts'
import { type CommandError, usageError } from './command-error.ts'
import { noneOf, suggest } from './suggest.ts'

export type ParsedLine =
  /** Help about one command, or about all that begin with these words. */
  | { readonly kind: 'help'; readonly words: string }
  | {
      readonly kind: 'run'
      readonly command: CommandSpec
      readonly values: Values
      readonly positionals: readonly string[]
      readonly rest: readonly string[]
    }
  | { readonly kind: 'wrong'; readonly error: CommandError }

/** Understands a command line by the table of commands. Total: what it does not understand is `wrong`. */
export function parseLine(argv: readonly string[], commands: readonly CommandSpec[]): ParsedLine {
  const words = leadingWords(argv)
  const command = commands.findLast(({ name }) => startsWithWords(words, name.split(' ')))
  if (command === undefined || isMistyped(words, command, commands)) return withoutCommand(argv, words, commands)
  return parseCommand(argv.slice(command.name.split(' ').length), command)
}

/** `judge` takes no words, and `judge list` is a command: a second word that is none of those was meant to be one. */
function isMistyped(
  words: readonly string[],
  { name, positionals = [] }: CommandSpec,
  commands: readonly CommandSpec[],
): boolean {
  const isAlone = !name.includes(' ') && positionals.length === 0
  return isAlone && words.length > 1 && commands.some((other) => other.name.startsWith(`${name} `))
}

function withoutCommand(argv: readonly string[], words: readonly string[], commands: readonly CommandSpec[]): ParsedLine {
  const [first] = words
  if (first === undefined) {
    const [option] = argv
    const asksHelp = option === undefined || option === '--help' || option === '-h'
    if (asksHelp) return { kind: 'help', words: '' }
    const version = commands.find(({ name }) => name === 'version')
    if (version !== undefined && (option === '--version' || option === '-v')) return parseCommand(argv.slice(1), version)
    return { kind: 'wrong', error: usageError(`${option} needs a command before it`, 'parley --help lists the commands') }
  }
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length === 0) {
    const meant = suggest(first, [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))])
    // Who types `jobs` wants to see them.
    const list = words.length > 1 ? undefined : commands.find(({ name }) => name === `${meant} list` && first === `${meant}s`)
    const typed = list?.name ?? meant
    return { kind: 'wrong', error: unknown(`there is no command ${first}`, typed === undefined ? undefined : `parley ${typed}`) }
  }
  if (argv.includes('--help') || argv.includes('-h')) return { kind: 'help', words: first }
  const [, second] = words
  const names = group.map(({ name }) => name.slice(first.length + 1))
  if (second === undefined)
    return { kind: 'wrong', error: usageError(`${first} needs one of: ${names.join(', ')}`, `parley ${first} --help`) }
  const meant = suggest(second, names)
  return {
    kind: 'wrong',
    error: unknown(
      `there is no command ${first} ${second}`,
      meant === undefined ? undefined : `parley ${first} ${meant}`,
      `parley ${first} --help`,
    ),
  }
}

function unknown(message: string, meant: string | undefined, help = 'parley --help'): CommandError {
  return usageError(message, meant === undefined ? `${help} lists the commands` : `did you mean ${meant}?`)
}

function parseCommand(args: readonly string[], command: CommandSpec): ParsedLine {
  const options: Readonly<Record<string, OptionSpec>> = { ...command.options, ...COMMON_OPTIONS }
  const { tokens } = parseArgs({
    args: [...args],
    options: parseArgsOptions(options),
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const given = new Map<string, readonly string[] | true>()
  const positionals: string[] = []
  const wrong = (message: string, hint = `parley ${command.name} --help`): ParsedLine => ({
    kind: 'wrong',
    error: usageError(message, hint),
  })
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? args.length
  if (tokens.some((token) => token.kind === 'option' && token.index < end && token.name === 'help'))
    return { kind: 'help', words: command.name }
  for (const token of tokens) {
    if (token.index >= end) break
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const spec = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (spec === undefined) {
      const meant = suggest(token.name, Object.keys(options))
      const other = command.rest === undefined ? undefined : `${command.rest} that begins with - goes after --`
      return wrong(`${command.name} has no option ${token.rawName}`, meant === undefined ? other : `did you mean --${meant}?`)
    }
    if (spec.value === undefined) {
      if (token.value !== undefined) return wrong(`--${token.name} takes no value`)
      given.set(token.name, true)
      continue
    }
    if (token.value === '')
      return wrong(`--${token.name} is empty: ${spec.whenEmpty ?? `it needs a value, --${token.name} ${spec.value}`}`)
    if (token.value === undefined) return wrong(`--${token.name} needs a value: --${token.name} ${spec.value}`)
    // `--port --json` is a forgotten value far more often than a value that begins so.
    if (token.inlineValue === false && token.value.startsWith('--'))
      return wrong(`--${token.name} needs a value: --${token.name} ${spec.value}`)
    if (spec.choices !== undefined && spec.isFile !== true && !spec.choices.includes(token.value))
      return { kind: 'wrong', error: noneOf(`--${token.name}`, token.value, spec.choices, `parley ${command.name} --help`) }
    const before = spec.repeats === true ? given.get(token.name) : undefined
    given.set(token.name, [...(before === undefined || before === true ? [] : before), token.value])
  }
  const rest = args.slice(end + 1)
  const problem = misfit(command, positionals, end < args.length ? rest : undefined)
  if (problem !== undefined) return wrong(problem, commandHint(command, positionals, end < args.length))
  for (const [index, { name, choices }] of (command.positionals ?? []).entries()) {
    const word = positionals[index]
    if (word !== undefined && choices?.includes(word) === false)
      return { kind: 'wrong', error: noneOf(name, word, choices, `parley ${command.name} --help`) }
  }
  return { kind: 'run', command, values: new Values(given), positionals, rest }
}

/** Words beyond what a command takes, where it takes another command, are that command most of the time. */
function commandHint(
  { name, positionals: specs = [], rest }: CommandSpec,
  given: readonly string[],
  hasRest: boolean,
): string | undefined {
  if (rest === undefined || hasRest || given.length <= specs.length) return undefined
  const own = given.slice(0, specs.filter(({ optional }) => optional !== true).length)
  return `a command goes after --: parley ${[name, ...own, '--', ...given.slice(own.length)].join(' ')}`
}

function misfit(
  { name, positionals: specs = [], rest: restName }: CommandSpec,
  given: readonly string[],
  rest: readonly string[] | undefined,
): string | undefined {
  const missing = specs.find((spec, index) => spec.optional !== true && given[index] === undefined)
  if (missing !== undefined) return `${name} needs ${missing.name}`
  const surplus = given[specs.length]
  if (surplus !== undefined) return `${name} does not take ${JSON.stringify(surplus)}`
  return rest !== undefined && restName === undefined ? `${name} takes nothing after --` : undefined
}

function parseArgsOptions(
  options: Readonly<Record<string, OptionSpec>>,
): Record<string, { type: 'string' | 'boolean'; short?: string }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value, short }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) },
    ]),
  )
}

function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-'))
  return end < 0 ? argv : argv.slice(0, end)
}

function startsWithWords(words: readonly string[], name: readonly string[]): boolean {
  return name.every((word, index) => words[index] === word)
}
