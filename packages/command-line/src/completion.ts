import { COMMON_OPTIONS, type CommandSpec, type OptionSpec } from './command.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A script that teaches a shell the commands, made from the same table as the parser. */
export function completionFor(shell: Shell, commands: readonly CommandSpec[]): string {
  const makers = { bash: bashScript, zsh: zshScript, fish: fishScript }
  return makers[shell](commands)
}

/** What may follow a value-taking option: words, files, or both. */
interface ValueOffer {
  readonly command: string
  readonly option: string
  readonly words: readonly string[]
  readonly files: boolean
}

const firstWords = (commands: readonly CommandSpec[]): string[] => [
  ...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name)),
]

const groups = (commands: readonly CommandSpec[]): [string, string[]][] =>
  firstWords(commands)
    .map((first): [string, string[]] => [
      first,
      commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [])),
    ])
    .filter(([, names]) => names.length > 0)

const optionsOf = (command: CommandSpec): [string, OptionSpec][] =>
  Object.entries<OptionSpec>({ ...command.options, ...COMMON_OPTIONS })

const wordsOf = (command: CommandSpec): string[] => [
  ...optionsOf(command).map(([name]) => `--${name}`),
  ...(command.positionals ?? []).flatMap(({ choices }) => choices ?? []),
]

const rowsOf = (command: CommandSpec): (readonly [string, string])[] => [
  ...optionsOf(command).map(([name, { doc }]) => [`--${name}`, doc] as const),
  ...(command.positionals ?? []).flatMap(({ choices, doc }) => (choices ?? []).map((choice) => [choice, doc] as const)),
]

/** What may follow the first word of a group besides the second: the options of a command that is that word alone. */
const ownWords = (commands: readonly CommandSpec[], first: string): string[] => {
  const own = commands.find(({ name }) => name === first)
  return own === undefined ? ['--help'] : wordsOf(own)
}

const takesFiles = (command: CommandSpec): boolean => command.positionals?.some(({ isFile }) => isFile === true) === true

const valueOffers = (commands: readonly CommandSpec[]): ValueOffer[] =>
  commands.flatMap((command) =>
    optionsOf(command).flatMap(([name, { value, choices, isFile }]) => {
      if (value === undefined) return []
      return [{ command: command.name, option: `--${name}`, words: choices ?? [], files: isFile === true }]
    }),
  )

function bashScript(commands: readonly CommandSpec[]): string {
  const twoWords = commands.filter(({ name }) => name.includes(' ')).map(({ name }) => `    '${name}') command='${name}' ;;`)
  const values = valueOffers(commands).map(
    ({ command, option, words, files }) =>
      `    '${command}:${option}') offers='${words.join(' ')}'${files ? '; files=1' : ''} ;;`,
  )
  const inner = [
    ...groups(commands).map(
      ([first, names]) => `        '${first}') offers='${[...names, ...ownWords(commands, first)].join(' ')}' ;;`,
    ),
    ...commands.map(
      (command) =>
        `        '${command.name}') offers='${wordsOf(command).join(' ')}'${takesFiles(command) ? '; files=1' : ''} ;;`,
    ),
  ]
  return `# Completion of parley for bash: source it, or put it into a folder that bash-completion reads.
_parley() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" offers='' files=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${firstWords(commands).join(' ')} --help' -- "$cur"))
    return
  fi
  case "$command \${COMP_WORDS[2]}" in
${twoWords.join('\n')}
  esac
  case "$command:$prev" in
${values.join('\n')}
    *)
      case "$command" in
${inner.join('\n')}
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$offers" -- "$cur"))
  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _parley parley
`
}

function zshScript(commands: readonly CommandSpec[]): string {
  const described = (rows: readonly (readonly [string, string])[]): string =>
    rows.map(([word, doc]) => quote(`${word.replaceAll(':', '\\:')}:${doc}`)).join(' ')
  const tops = firstWords(commands).map(
    (first) => [first, commands.find(({ name }) => name === first)?.summary ?? `${first} commands`] as const,
  )
  const twoWords = commands.filter(({ name }) => name.includes(' ')).map(({ name }) => `    '${name}') command='${name}' ;;`)
  const values = valueOffers(commands).map(({ command, option, words, files }) => {
    const offers = `offers=(${words.map(quote).join(' ')})`
    if (!files) return `    '${command}:${option}') ${offers} ;;`
    return `    '${command}:${option}') ${words.length === 0 ? '_files; return' : `${offers}; _files`} ;;`
  })
  const inner = [
    ...groups(commands).map(([first, names]) => {
      const rows = names.map(
        (name) => [name, commands.find((command) => command.name === `${first} ${name}`)?.summary ?? ''] as const,
      )
      const own = commands.find(({ name }) => name === first)
      return `        '${first}') offers=(${described([...rows, ...(own === undefined ? [] : rowsOf(own))])}) ;;`
    }),
    ...commands.map((command) => {
      return `        '${command.name}') offers=(${described(rowsOf(command))})${takesFiles(command) ? '; _files' : ''} ;;`
    }),
  ]
  return `#compdef parley
# Completion of parley for zsh: put it as _parley into a folder of $fpath, or source it after compinit.
_parley() {
  local command="\${words[2]}" prev="\${words[CURRENT-1]}"
  local -a offers
  if (( CURRENT == 2 )); then
    offers=(${described(tops)})
    _describe command offers
    return
  fi
  case "$command \${words[3]}" in
${twoWords.join('\n')}
  esac
  case "$command:$prev" in
${values.join('\n')}
    *)
      case "$command" in
${inner.join('\n')}
      esac
      ;;
  esac
  _describe option offers
}
compdef _parley parley
`
}

function fishScript(commands: readonly CommandSpec[]): string {
  const lines = firstWords(commands).map((first) => {
    const summary = commands.find(({ name }) => name === first)?.summary ?? `${first} commands`
    return `complete -c parley -f -n __fish_use_subcommand -a ${first} -d ${quote(summary)}`
  })
  for (const [first, names] of groups(commands)) {
    const condition = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${names.join(' ')}`
    for (const name of names) {
      const summary = commands.find((command) => command.name === `${first} ${name}`)?.summary ?? ''
      lines.push(`complete -c parley -f -n ${quote(condition)} -a ${name} -d ${quote(summary)}`)
    }
  }
  for (const command of commands) {
    // `judge` has options of its own, and so has `judge list`.
    const others = groups(commands).find(([first]) => first === command.name)?.[1] ?? []
    const words = command.name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
    const condition = [...words, ...(others.length === 0 ? [] : [`not __fish_seen_subcommand_from ${others.join(' ')}`])].join(
      '; and ',
    )
    const start = `complete -c parley -n ${quote(condition)}`
    for (const [name, { doc, value, choices, isFile, short }] of optionsOf(command)) {
      const wants =
        value === undefined
          ? ''
          : isFile === true
            ? ` -r -F${choices === undefined ? '' : ` -a ${quote(choices.join(' '))}`}`
            : choices === undefined
              ? ' -x'
              : ` -x -a ${quote(choices.join(' '))}`
      lines.push(`${start} -l ${name}${short === undefined ? '' : ` -s ${short}`}${wants} -d ${quote(doc)}`)
    }
    for (const { choices, doc } of command.positionals ?? []) {
      if (choices !== undefined) lines.push(`${start} -f -a ${quote(choices.join(' '))} -d ${quote(doc)}`)
    }
  }
  return `# Completion of parley for fish: put it as parley.fish into ~/.config/fish/completions.\n${lines.join('\n')}\n`
}

/** One word for any of the three shells, whatever is in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
