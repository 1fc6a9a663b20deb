import { spawn } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { ProcessExit } from './processes.ts'

/** One of our own programs, run by this very Node. */
export interface ProgramSpec {
  readonly entry: URL
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Flags for Node itself. */
  readonly nodeFlags?: readonly string[]
}

/** A direct child. Its stdin is its lifeline: when that ends, because we ended it or died, it must end by itself. */
export interface ChildProgram {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly exited: Promise<ProcessExit>
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

/**
 * Starts one of our own programs with stderr shared. For small processes only (the supervisor, the spawner's owner once
 * at its start): a fork stalls a process by its size.
 */
export async function startProgram(spec: ProgramSpec): Promise<ChildProgram> {
  // A session of its own: Ctrl-C and a kill of our group reach us alone, and the lifeline does the rest in order.
  const child = spawn(process.execPath, [...(spec.nodeFlags ?? []), fileURLToPath(spec.entry), ...(spec.args ?? [])], {
    env: { ...compileCache(), ...spec.env },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  // Writing to a child that just died is not our failure: `exited` tells.
  child.stdin.on('error', () => {})
  return { pid: child.pid ?? 0, stdin: child.stdin, stdout: child.stdout, exited, kill: (signal) => void child.kill(signal) }
}

/** What this process compiled, or an earlier one, need not be compiled again by its child: half of a start is that. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  // Node adds a folder for its own version, and would again.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}
