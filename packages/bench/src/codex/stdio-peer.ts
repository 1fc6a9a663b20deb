import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A server on stdio under measurement. Lines are looked at as bytes as far as possible: the client must not be the slow one. */
export interface StdioPeer extends AsyncDisposable {
  readonly pid: number
  /** Milliseconds from its start to now. */
  age(): number
  send(message: object): void
  /** The answer with this id. `event` hears every line that is not it. */
  answer(id: number, event?: (line: string) => void): Promise<Record<string, unknown>>
}

export interface StdioCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The core it is pinned to. */
  readonly core?: number
}

const ANSWER_MS = 120_000
const STDERR_CHARACTERS = 4_000

export async function startPeer({ command, args, env, cwd, core }: StdioCommand): Promise<StdioPeer> {
  const [file, ...rest] = core === undefined ? [command, ...args] : ['taskset', '-c', String(core), command, ...args]
  const started = performance.now()
  const child = spawn(file ?? command, rest, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  await once(child, 'spawn')
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-STDERR_CHARACTERS)))
  child.stdin.on('error', () => undefined)
  let hear: (line: string) => void = () => undefined
  let partial = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${partial}${chunk}`.split('\n')
    partial = lines.pop() ?? ''
    for (const line of lines) hear(line)
  })
  const pid = child.pid ?? 0
  return {
    pid,
    age: () => performance.now() - started,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    answer: (id, event = () => undefined) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${command} did not answer ${id}: ${said}`)), ANSWER_MS)
        const onExit = (): void =>
          reject(new Error(`${command} ended (${child.exitCode ?? child.signalCode}) before it answered ${id}: ${said}`))
        child.once('exit', onExit)
        const mark = `"id":${id}`
        hear = (line) => {
          const parsed: unknown = line.includes(mark) ? JSON.parse(line) : undefined
          if (!isAnswer(parsed, id)) return event(line)
          clearTimeout(late)
          child.off('exit', onExit)
          hear = () => undefined
          resolve(parsed)
        }
      }),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      process.kill(-pid, 'SIGKILL')
      await exited
    },
  }
}

const isAnswer = (value: unknown, id: number): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && 'id' in value && value.id === id && !('method' in value)
