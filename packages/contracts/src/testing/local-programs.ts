import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CodexProcess } from '../process/codex-process.ts'
import type { ProgramCall, ProgramEnd, Programs } from '../process/programs.ts'

const STDERR_TAIL_CHARACTERS = 16 * 1024
/** What was killed is gone long before. */
const GONE_MS = 30_000
const LOOK_MS = 10

/** Programs as children of this process, in groups of their own; whatever they started is stopped at the end. */
export interface LocalPrograms extends Programs, AsyncDisposable {
  readonly running: () => readonly number[]
}

export function openLocalPrograms(): LocalPrograms {
  const children = new Set<ChildProcess>()
  const groups = new Set<number>()
  const start = async ({ command, args, env, cwd }: ProgramCall): Promise<CodexProcess> => {
    // A group of its own: what it leaves behind is found by it, whoever its parent is by then.
    const child = spawn(command, args, {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
    })
    await once(child, 'spawn')
    children.add(child)
    groups.add(child.pid ?? 0)
    child.once('exit', () => children.delete(child))
    return processOf(child)
  }
  return {
    start,
    run: runToEnd,
    running: () => [...children].flatMap(({ pid }) => pid ?? []),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...children].map(end))
      // Whatever it left behind may still write to its home.
      await endAll(processes().filter(({ group }) => groups.has(group)))
    },
  }
}

const runToEnd: Programs['run'] = ({ command, args, env, cwd }, { timeoutMs, maxBytes }) =>
  new Promise<ProgramEnd>((resolve, reject) => {
    const options = { env, timeout: timeoutMs, maxBuffer: maxBytes, ...(cwd === undefined ? {} : { cwd }) }
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error?.killed === true) resolve({ kind: 'timed-out' })
      else if (error !== null && typeof error.code !== 'number') reject(new Error(`${command} cannot be run`, { cause: error }))
      else resolve({ kind: 'ended', exit: { code: typeof error?.code === 'number' ? error.code : 0 }, stdout, stderr })
    })
  })

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
