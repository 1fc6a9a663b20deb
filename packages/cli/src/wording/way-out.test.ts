import { expect, test } from 'vitest'
import { COMMANDS } from '../commands/table.ts'
import { KNOWN_CODES, wayOut } from '@parley/command-line/wording'

/** Options of other commands, and of another program, are named behind it. */
const OF_OTHERS = /\b(?:parley|codex)(?: [a-zA-Z-]+)*(?: --[\w-]+(?: [A-Z][\w-]*)?)*/g
const optionsIn = (text: string): readonly string[] =>
  [...text.replaceAll(OF_OTHERS, '').matchAll(/(?<![\w-])--([a-z][\w-]*)/g)].map(([, name = '']) => name)

test.each(COMMANDS.map((command) => [command.name, command] as const))(
  'what %s is told to do names its own options alone, as does its help',
  (_name, command) => {
    const known = new Set([...Object.keys(command.options), 'help'])
    const hints = KNOWN_CODES.flatMap((code) => wayOut(code, command) ?? [])
    const docs = Object.values(command.options).map(({ doc }) => doc)
    const help = [command.summary, command.more ?? '', ...(command.notes ?? []), ...docs]
    for (const text of [...hints, ...help])
      expect({ text, strange: optionsIn(text).filter((name) => !known.has(name)) }).toEqual({ text, strange: [] })
  },
)

test('what helps is said with the options of the command that failed', () => {
  const told = (name: string, code: string) =>
    wayOut(
      code,
      COMMANDS.find((command) => command.name === name),
    )
  expect([
    told('job list', 'unreachable'),
    told('exec-server', 'unreachable'),
    told('proxy', 'unreachable'),
    told('job list', 'unauthorized'),
    told('exec-server', 'unauthorized'),
    told('proxy', 'unauthorized'),
    told('up', 'port_taken'),
    told('exec-server', 'port_taken'),
    told('proxy', 'spawn_failed'),
    told('proxy', 'gateway_missing'),
    told('executor list', 'gateway_missing'),
    told('version', 'locked'),
    told('version', 'nothing like this'),
  ]).toEqual([
    'check --url and that the gateway runs',
    'check --join and that the gateway runs',
    'check the address, and that somebody serves there',
    'check --token-file or PARLEY_TOKEN; parley doctor --url U says which step fails',
    'check --token-file or PARLEY_EXECUTOR_TOKEN; parley doctor --url U says which step fails',
    'check --upstream-token-file',
    'choose another with --port, or let the system choose with --port 0',
    'choose another with --listen; ws://127.0.0.1:0 lets the system choose',
    'check the command after --',
    'start one with parley up, or name another by --data or --gateway',
    'start one with parley up, or name another by --data or --url',
    'stop the gateway that runs on it',
    undefined,
  ])
})
