import { expect, test } from 'vitest'
import { widthOf } from '@parley/screen'
import { helpFor, type OptionSpec, parseLine } from '@parley/command-line'
import { COMMANDS, GROUPS } from './table.ts'

const wrong = (...argv: string[]) => {
  const parsed = parseLine(argv, COMMANDS)
  return parsed.kind === 'wrong'
    ? { message: parsed.error.message, hint: parsed.error.hint, exit: parsed.error.exitCode }
    : parsed.kind
}

test.each([
  [['pu'], 'there is no command pu', 'did you mean parley up?'],
  [['frobnicate'], 'there is no command frobnicate', 'parley --help lists the commands'],
  [['user', 'ad', 'bob'], 'there is no command user ad', 'did you mean parley user add?'],
  [
    ['user'],
    'user needs one of: add, list, link, passwd, set-identity, disable, enable, promote, demote, delete',
    'parley user --help',
  ],
  [['up', '--prot', '1'], 'up has no option --prot', 'did you mean --port?'],
  [['up', '--port'], '--port needs a value: --port PORT', 'parley up --help'],
  [['up', '--port', '--json'], '--port needs a value: --port PORT', 'parley up --help'],
  [['up', '--port', ''], '--port is empty: it needs a value, --port PORT', 'parley up --help'],
  [['contracts', 'check', '--codex', ''], '--codex is empty: is there no codex on PATH?', 'parley contracts check --help'],
  [['jobs'], 'there is no command jobs', 'did you mean parley job list?'],
  [['users', 'add'], 'there is no command users', 'did you mean parley user?'],
  [['judgs'], 'there is no command judgs', 'did you mean parley judge?'],
  [['--version', 'x'], 'version does not take "x"', 'parley version --help'],
  [['up', '--json=yes'], '--json takes no value', 'parley up --help'],
  [['up', 'now'], 'up does not take "now"', 'parley up --help'],
  [['up', '--', 'x'], 'up takes nothing after --', 'parley up --help'],
  [['user', 'add'], 'user add needs NAME', 'parley user add --help'],
  [
    ['token', 'create', '--role', 'king'],
    '--role king is none of: user, judge, host, executor, agent',
    'parley token create --help',
  ],
  [
    ['token', 'create', '--role', 'juge'],
    '--role juge is none of: user, judge, host, executor, agent',
    'did you mean judge? parley token create --help',
  ],
  [['completion', 'tcsh'], 'SHELL tcsh is none of: bash, zsh, fish', 'parley completion --help'],
  [['completion', 'ZSH'], 'SHELL ZSH is none of: bash, zsh, fish', 'did you mean zsh? parley completion --help'],
  [['--json'], '--json needs a command before it', 'parley --help lists the commands'],
])('%j is wrong in one sentence with a way out', (argv, message, hint) => {
  expect(wrong(...argv)).toEqual({ message, hint, exit: 2 })
})

test('what comes after -- belongs to the command that is run', () => {
  const parsed = parseLine(['proxy', '--port', '0', '--', 'npx', '-y', 'server', '--help', '--', 'x'], COMMANDS)
  expect(parsed).toMatchObject({ kind: 'run', positionals: [], rest: ['npx', '-y', 'server', '--help', '--', 'x'] })
  expect(parsed.kind === 'run' && parsed.values.text('port')).toBe('0')
})

test.each([[[]], [['--help']], [['user', '--help']], [['user', 'add', '--help']], [['token', 'create', 'x', '-h']]])(
  '%j asks for help',
  (argv) => {
    expect(parseLine(argv, COMMANDS).kind).toBe('help')
  },
)

test.each([['--version'], ['-v'], ['version']])('%s asks for the version', (word) => {
  expect(parseLine([word, '--json'], COMMANDS)).toMatchObject({ kind: 'run', command: { name: 'version' } })
})

test('every command has help that names all it takes', () => {
  for (const { name, options, positionals = [] } of COMMANDS) {
    const words = [
      name,
      ...Object.keys(options).map((option) => `--${option}`),
      ...positionals.map((positional) => positional.name),
    ]
    const text = helpFor(name, GROUPS)
    expect(words.filter((word) => !text.includes(word))).toEqual([])
  }
})

test('every word of a closed set that is mistyped is answered with the one that was meant', () => {
  const closed = COMMANDS.flatMap(({ name, options }) =>
    Object.entries<OptionSpec>(options).flatMap(([option, { choices, isFile }]) =>
      choices === undefined || isFile === true ? [] : [{ name, option, choices }],
    ),
  )
  expect(closed.map(({ option }) => option)).toEqual(
    expect.arrayContaining(['language', 'engine', 'status', 'wire', 'by', 'log']),
  )
  for (const { name, option, choices } of closed) {
    const word = choices.toSorted((a, b) => b.length - a.length)[0] ?? ''
    const mistyped = `${word}x`
    expect(wrong(...name.split(' '), `--${option}`, mistyped)).toEqual({
      message: `--${option} ${mistyped} is none of: ${choices.join(', ')}`,
      hint: `did you mean ${word}? parley ${name} --help`,
      exit: 2,
    })
  }
})

test('the help is grouped, has every command once, and fits 80 columns, as that of every command does', () => {
  const whole = helpFor('', GROUPS)
  for (const { title, name, commands } of GROUPS) {
    expect(whole).toContain(`\n${title}\n  ${commands[0]?.name} `)
    expect(helpFor(name, GROUPS)).toContain(`  ${commands[0]?.name} `)
  }
  const listed = whole.split('\n').flatMap((line) => /^ {2}(\S+(?: \S+)*) {2,}\S/.exec(line)?.[1] ?? [])
  expect(listed).toEqual(COMMANDS.map(({ name }) => name))
  const texts = [whole, ...[...GROUPS, ...COMMANDS].map(({ name }) => helpFor(name, GROUPS))]
  const wide = texts.flatMap((text) => text.split('\n').filter((line) => widthOf(line) > 80))
  expect(wide).toEqual([])
})

test('no two commands have the same name, and all say what they do in one line', () => {
  expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length)
  for (const { summary } of COMMANDS) expect(summary).toMatch(/^[A-Z][^\n]+[^.]$/)
})
