import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import type { CodexProcess, StartCodex } from '../bridge/codex-process.ts'
import { type CodexPeer, codexBinary } from './codex-binary.ts'
import { type CodexHome, MODEL_KEY } from './codex-home.ts'

const STDERR_TAIL_CHARACTERS = 16 * 1024

export interface CodexPeerOptions {
  readonly home: Pick<CodexHome, 'path'>
  readonly cwd?: string
  /** Beside the few variables that it gets anyway. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts the real Codex of a peer, and whatever it started is stopped at the end. */
export type CodexPeerStarter = StartCodex & AsyncDisposable & { readonly running: () => readonly number[] }

export function startCodexPeer(peer: CodexPeer, { home, cwd = home.path, env = {} }: CodexPeerOptions): CodexPeerStarter {
  const { command, args: first, pathDirs } = codexBinary(peer)
  const children = new Set<ChildProcess>()
  const path = [...pathDirs, process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter)
  const variables = {
    PATH: path,
    HOME: home.path,
    CODEX_HOME: home.path,
    // Codex refuses a home inside the folder for temporary files, and goes without its own tools then.
    TMPDIR: join(home.path, 'tmp'),
    LANG: 'C.UTF-8',
    [MODEL_KEY.name]: MODEL_KEY.value,
    ...env,
  }
  const start: StartCodex = async (args) => {
    const child = spawn(command, [...first, ...args], {
      cwd,
      env: variables,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    await once(child, 'spawn')
    children.add(child)
    child.once('exit', () => children.delete(child))
    return processOf(child)
  }
  const dispose = async (): Promise<void> => {
    await Promise.all([...children].map(end))
  }
  const running = (): readonly number[] => [...children].flatMap(({ pid }) => pid ?? [])
  return Object.assign(start, { running, [Symbol.asyncDispose]: dispose })
}

function processOf(child: ChildProcess): CodexProcess {
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined || stdin === null || stdout === null || stderr === null) throw new TypeError('Codex has no pipes')
  let tail = ''
  stderr.on('data', (chunk: Buffer) => (tail = `${tail}${chunk.toString()}`.slice(-STDERR_TAIL_CHARACTERS)))
  stdin.on('error', () => undefined)
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  const isOver = async (ms: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), ms)
    void exited.then(() => resolve(true))
    const over = await promise
    clearTimeout(timer)
    return over
  }
  return {
    pid,
    stdin,
    stdout,
    stderr,
    stderrTail: () => tail,
    exited,
    stop: async (graceMs) => {
      stdin.end()
      if (!(await isOver(graceMs))) {
        child.kill('SIGTERM')
        if (!(await isOver(graceMs))) await end(child)
      }
      return exited
    },
  }
}

/** Kills it with all that it started: a Codex that is killed hard leaves its commands running. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  const below = descendantsOf(child.pid)
  child.kill('SIGKILL')
  for (const pid of below) kill(pid)
  await gone
}

function descendantsOf(root: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of process.platform === 'linux' ? readdirSync('/proc') : [])
    if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(name))
  const found = [root]
  for (const parent of found) for (const [pid, above] of parents) if (above === parent) found.push(pid)
  return found.slice(1)
}

/** The name of the program stands in brackets and may hold anything. */
function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
  } catch {
    return -1
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went by itself.
  }
}
