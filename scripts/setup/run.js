import { spawnSync } from 'node:child_process'

/** Something a person has to put right; the message says what and how. */
export class SetupError extends Error {}

/** What set-up does is told on stderr, so that the output of the command behind it stays clean. */
export function say(line) {
  process.stderr.write(`setup: ${line}\n`)
}

/** Runs a program to its end with its output on stderr; a failure ends the set-up. */
export function run(program, args, options = {}) {
  const { status, signal, error } = spawnSync(program, args, {
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
    ...options,
  })
  const line = [program, ...args].join(' ')
  if (error !== undefined) throw new SetupError(`cannot run ${line}: ${error.message}`)
  if (status !== 0) throw new SetupError(`${line} ended with ${signal ?? `code ${status}`}`)
}
