import { spawnSync } from 'node:child_process'
import { completionFor } from '@parley/command-line/completion'
import { expect, test } from 'vitest'
import { COMMANDS } from './table.ts'

const bash = completionFor('bash', COMMANDS)

/** What bash would offer after these words. */
function offers(...words: string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(' ')
  const script = `${bash}\nCOMP_WORDS=(parley ${line})\nCOMP_CWORD=${words.length}\n_parley\nprintf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', script], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  return stdout.split('\n').filter((word) => word !== '')
}

test.each([
  [['u'], ['up', 'usage', 'user']],
  [
    ['user', 'd'],
    ['disable', 'demote', 'delete'],
  ],
  [['job', 'submit', '--checker', 'tok'], ['tokens']],
  [['up', '--no-j'], ['--no-judge']],
  // A command by itself, and the first word of others.
  [['judge', 'd'], ['drain']],
  [['judge', '--sl'], ['--slots']],
  [['judge', 'drain', '--un'], ['--undo']],
  [
    ['token', 'create', '--role', ''],
    ['user', 'judge', 'host', 'executor', 'agent'],
  ],
  [['token', 'create', '--tt'], ['--ttl']],
  [
    ['completion', ''],
    ['--help', 'bash', 'zsh', 'fish'],
  ],
])('bash completes %j', (words, expected) => {
  expect(offers(...words)).toEqual(expected)
})

test('the scripts for all shells hold every command and option', () => {
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const script = completionFor(shell, COMMANDS)
    for (const { name, options } of COMMANDS) {
      for (const word of [...name.split(' '), ...Object.keys(options)]) expect(script).toContain(word)
    }
  }
})

test.each([['zsh'], ['fish']] as const)('the script for %s is one that it can read, where it is installed', (shell) => {
  const { status, error, stderr } = spawnSync(shell, ['-n'], { input: completionFor(shell, COMMANDS), encoding: 'utf8' })
  if (error !== undefined) return console.warn(`${shell} is not installed: not tried`)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
