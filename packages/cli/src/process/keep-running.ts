import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChildProgram, startProgram } from '@parley/executor'
import { CommandError, type Io } from '@parley/command-line'
import { type Word, parseWord } from './lifeline.ts'

const RESTART_MIN_MS = 200
const RESTART_MAX_MS = 10_000
/** Crashes in a row, each sooner than `STABLE_MS` after its start, before we stop trying. */
const CRASHES_MAX = 8
const STABLE_MS = 60_000
/** How long a process gets to end in order. */
const STOP_MS = 10_000

export interface KeptProgram<Ready> {
  /** As people know it. */
  readonly name: 'gateway' | 'judge' | 'host'
  readonly entry: URL
  readonly env: Readonly<Record<string, string>>
  /** Tells the word that it is ready from any other. */
  readonly isReady: (value: unknown) => value is Ready
  /** What it is told at each start. */
  readonly plan: () => object
  readonly onReady: (ready: Ready, isFirst: boolean) => void
  /** The process that runs now, for whoever must end it by force. */
  readonly onStart: (program: ChildProgram) => void
  /** Settles when it is to end. */
  readonly stop: Promise<'stop'>
}

/**
 * Runs one of our programs, again after every crash, until it is told to end. Throws `CommandError` when it does not
 * get ready the first time, or dies again and again.
 */
export async function keepRunning<Ready>(kept: KeptProgram<Ready>, io: Pick<Io, 'now' | 'err'>): Promise<void> {
  const { name, stop } = kept
  let crashes = 0
  let wasReady = false
  for (;;) {
    const startedAt = io.now()
    const program = await startProgram({ entry: kept.entry, env: kept.env })
    kept.onStart(program)
    const word = firstWord(program, kept.isReady)
    program.stdin.write(`${JSON.stringify(kept.plan())}\n`)
    const outcome = await Promise.race([word, stop])
    if (outcome === 'stop') return end(program)
    if (outcome !== undefined && 'ready' in outcome) {
      kept.onReady(outcome.ready, !wasReady)
      wasReady = true
      if ((await Promise.race([program.exited, stop])) === 'stop') return end(program)
    }
    const { code, signal } = await program.exited
    const why = outcome !== undefined && 'failed' in outcome ? outcome.failed : undefined
    const how = signal === null ? `exit code ${code}` : signal
    if (!wasReady) {
      const message = why?.message ?? `the ${name} ended (${how}) before it was ready`
      throw new CommandError(why?.code ?? `${name}_died`, message, hintOf(why))
    }
    crashes = io.now() - startedAt > STABLE_MS ? 1 : crashes + 1
    if (crashes > CRASHES_MAX) {
      const message = `the ${name} ended ${crashes} times in a row, last by ${why?.message ?? how}`
      throw new CommandError(`${name}_keeps_dying`, message, hintOf(why))
    }
    const waitMs = Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** (crashes - 1))
    io.err(`the ${name} ended (${why?.message ?? how}); starting it again in ${waitMs} ms\n`)
    if ((await Promise.race([sleep(waitMs), stop])) === 'stop') return undefined
  }
}

async function end(program: ChildProgram): Promise<void> {
  program.stdin.end()
  const late = setTimeout(() => program.kill('SIGKILL'), STOP_MS)
  await program.exited
  clearTimeout(late)
}

/** The one word that a process says, or `undefined` when it ends without. Anything else on its stdout is noise. */
function firstWord<Ready>(program: ChildProgram, isReady: (value: unknown) => value is Ready): Promise<Word<Ready> | undefined> {
  return new Promise((resolve) => {
    createInterface({ input: program.stdout, crlfDelay: Number.POSITIVE_INFINITY })
      .on('line', (line) => {
        const word = parseWord(line, isReady)
        if (word !== undefined) resolve(word)
      })
      .once('close', () => resolve(undefined))
  })
}

function hintOf(why: { readonly hint?: string } | undefined): { hint?: string } {
  return why?.hint === undefined ? {} : { hint: why.hint }
}
