import { within } from '@parley/protocol/wire'
import { type ChildProgram, startProgram } from './program.ts'
import { ProcessError } from './processes.ts'
import { type SpawnerEvent, type SpawnerOrder, lineSplitter, parseEvent } from './spawner-wire.ts'

/** A spawner that does not report for duty in this time never will. */
const READY_WAIT_MS = 20_000
/** A spawner that was told to end gets this long for its own clean-up. */
const END_WAIT_MS = 3_000

/** The owner's end of its spawner. */
export interface SpawnerLink {
  readonly pid: number
  order(order: SpawnerOrder): void
  /** Settles when the spawner is gone and everything it said was heard. */
  readonly ended: Promise<void>
  /** Ends the spawner, and with it whatever it still runs. */
  end(): Promise<void>
}

/** Starts the spawner: the one process that this one ever forks. */
export async function openSpawner(socketFolder: string, onEvent: (event: SpawnerEvent) => void): Promise<SpawnerLink> {
  const program = await start(socketFolder)
  const ready = Promise.withResolvers<'ready' | 'gone'>()
  const ended = new Promise<void>((resolve) => program.stdout.once('close', resolve))
  const take = lineSplitter((line) => {
    const event = parseEvent(line)
    if (event.event === 'ready') ready.resolve('ready')
    else onEvent(event)
  })
  program.stdout.on('data', (chunk: Buffer) => {
    if (!take(chunk)) program.kill('SIGKILL')
  })
  void ended.then(() => ready.resolve('gone'))
  if ((await within(ready.promise, READY_WAIT_MS)) !== 'ready') {
    program.kill('SIGKILL')
    throw new ProcessError('spawner_failed', 'the process that starts others could not be started')
  }
  return {
    pid: program.pid,
    ended,
    order: (order) => void program.stdin.write(`${JSON.stringify(order)}\n`),
    end: async () => {
      program.stdin.end()
      if ((await within(program.exited, END_WAIT_MS)) === undefined) program.kill('SIGKILL')
      await ended
    },
  }
}

async function start(socketFolder: string): Promise<ChildProgram> {
  try {
    return await startProgram({ entry: new URL('./spawner-main.ts', import.meta.url), args: [socketFolder], env: {} })
  } catch (cause) {
    throw new ProcessError('spawner_failed', 'the process that starts others could not be started', { cause })
  }
}
