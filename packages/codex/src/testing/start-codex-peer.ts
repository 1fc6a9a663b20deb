import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CodexProcess, StartCodex } from '../bridge/codex-process.ts'
import { type CodexPeer, codexBinary } from './codex-binary.ts'
import { type CodexHome, MODEL_KEY } from './codex-home.ts'

const STDERR_TAIL_CHARACTERS = 16 * 1024
/** What was killed is gone long before. */
const GONE_MS = 30_000
const LOOK_MS = 10

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
  const groups = new Set<number>()
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
      // A group of its own: what it leaves behind is found by it, whoever its parent is by then.
      detached: true,
    })
    await once(child, 'spawn')
    children.add(child)
    groups.add(child.pid ?? 0)
    child.once('exit', () => children.delete(child))
    return processOf(child)
  }
  const dispose = async (): Promise<void> => {
    await Promise.all([...children].map(end))
    // Whatever it left behind may still write to its home.
    await endAll(processes().filter(({ group }) => groups.has(group)))
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
  await Promise.all([gone, endAll(below)])
}

/** Kills them, and waits until they are gone. */
async function endAll(some: readonly Process[]): Promise<void> {
  for (const { pid } of some) kill(pid)
  const deadline = performance.now() + GONE_MS
  const isLeft = ({ pid, startedAt }: Process): boolean => processOfPid(pid)?.startedAt === startedAt
  while (some.some(isLeft)) {
    if (performance.now() > deadline) throw new Error('what Codex started was killed and is still there')
    await sleep(LOOK_MS)
  }
}

/** One that runs: a zombie does not. */
interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Tells it from a later one with the same number. */
  readonly startedAt: string
}

function descendantsOf(root: number): readonly Process[] {
  const all = processes()
  const found: Process[] = []
  const add = (parent: number): void => {
    for (const one of all)
      if (one.parent === parent) {
        found.push(one)
        add(one.pid)
      }
  }
  add(root)
  return found
}

function processes(): readonly Process[] {
  const names = process.platform === 'linux' ? readdirSync('/proc') : []
  return names.flatMap((name) => (/^\d+$/.test(name) ? (processOfPid(Number(name)) ?? []) : []))
}

function processOfPid(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
    const [state, parent, group] = fields
    if (state === 'Z' || state === 'X') return undefined
    return { pid, parent: Number(parent), group: Number(group), startedAt: fields[STARTED_AT] ?? '' }
  } catch {
    return undefined
  }
}
/** Its place after the name. */
const STARTED_AT = 19

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went by itself.
  }
}
