import { spawn } from 'node:child_process'

/** Runs a program to its end and answers all it said. Throws when it ends with anything but 0. */
export function outputOf(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    let output = ''
    const keep = (chunk: string): void => {
      output += chunk
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.on('error', (error) => fail(new Error(`${file} cannot be run (is it installed?): ${error.message}`, { cause: error })))
    child.on('close', (code) => (code === 0 ? done(output) : fail(new Error(`${file} ended with ${code}:\n${output}`))))
  })
}
