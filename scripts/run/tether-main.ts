// Runs a program and all that it starts as one process group, which ends when our standard input does: whoever started us holds
// the other end of that pipe, and a killed process closes its pipes too.
//
//   node scripts/run/tether-main.ts PROGRAM ARGUMENT…
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const [program = '', ...args] = process.argv.slice(2)
const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })
child.on('error', (error) => {
  process.stderr.write(`${program} cannot be run: ${error.message}\n`)
  process.exit(127)
})
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]))

// The whole group is sent a signal, the program too: we stay until it has ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.stdin.on('close', () => process.kill(-process.pid, 'SIGKILL')).resume()
