import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Program, startProgram } from '@parley/executor'
import { CommandError } from '../command-line/command-error.ts'
import type { Io } from '../command-line/io.ts'
import { type GatewayPlan, type GatewayWord, parseWord, type Ready } from '../gateway-process/plan.ts'

const ENTRY = new URL('../gateway-process/gateway-main.ts', import.meta.url)
const RESTART_MIN_MS = 200
const RESTART_MAX_MS = 10_000
/** Crashes in a row, each sooner than `STABLE_MS` after its start, before we stop trying. */
const CRASHES_MAX = 8
const STABLE_MS = 60_000
/** How long the gateway gets to end in order. */
const STOP_MS = 10_000

/** Runs a gateway process, again after every crash, until somebody asks it to end. Answers the exit code. */
export async function supervise(first: GatewayPlan, io: Io, onReady: (ready: Ready) => void): Promise<number> {
  const stop = Promise.withResolvers<'stop'>()
  let current: Program | undefined
  let asked = 0
  const ignore = io.onSignal(() => {
    asked += 1
    if (asked === 1) {
      io.err('stopping; once more forces it\n')
      stop.resolve('stop')
    } else current?.kill('SIGKILL')
  })
  let plan = first
  let crashes = 0
  let wasReady = false
  try {
    for (;;) {
      const startedAt = io.now()
      const program = await startProgram({ entry: ENTRY, env: definedOnly(io.env) })
      current = program
      const word = firstWord(program)
      program.stdin.write(`${JSON.stringify(plan)}\n`)
      const outcome = await Promise.race([word, stop.promise])
      if (outcome === 'stop') return await end(program)
      if (outcome !== undefined && 'ready' in outcome) {
        // Whoever connects again after a crash must find the gateway where it was.
        plan = { ...plan, settings: { ...plan.settings, port: Number(new URL(outcome.ready.url).port) || plan.settings.port } }
        if (!wasReady) onReady(outcome.ready)
        wasReady = true
        if ((await Promise.race([program.exited, stop.promise])) === 'stop') return await end(program)
      } else {
        await program.exited
      }
      const { code, signal } = await program.exited
      const why = outcome !== undefined && 'failed' in outcome ? outcome.failed : undefined
      const how = signal === null ? `exit code ${code}` : signal
      if (!wasReady)
        throw new CommandError(
          why?.code ?? 'gateway_died',
          why?.message ?? `the gateway ended (${how}) before it was ready`,
          hintOf(why),
        )
      crashes = io.now() - startedAt > STABLE_MS ? 1 : crashes + 1
      if (crashes > CRASHES_MAX)
        throw new CommandError(
          'gateway_keeps_dying',
          `the gateway ended ${crashes} times in a row, last by ${why?.message ?? how}`,
          hintOf(why),
        )
      const waitMs = Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** (crashes - 1))
      io.err(`the gateway ended (${why?.message ?? how}); starting it again in ${waitMs} ms\n`)
      if ((await Promise.race([sleep(waitMs), stop.promise])) === 'stop') return 0
    }
  } finally {
    ignore()
  }
}

async function end(program: Program): Promise<number> {
  program.stdin.end()
  const late = setTimeout(() => program.kill('SIGKILL'), STOP_MS)
  await program.exited
  clearTimeout(late)
  return 0
}

/** The one word that a gateway process says, or `undefined` when it ends without. Anything else on its stdout is noise. */
function firstWord(program: Program): Promise<GatewayWord | undefined> {
  return new Promise((resolve) => {
    createInterface({ input: program.stdout, crlfDelay: Number.POSITIVE_INFINITY })
      .on('line', (line) => {
        const word = parseWord(line)
        if (word !== undefined) resolve(word)
      })
      .once('close', () => resolve(undefined))
  })
}

function hintOf(why: { readonly hint?: string } | undefined): { hint?: string } {
  return why?.hint === undefined ? {} : { hint: why.hint }
}

function definedOnly(env: Io['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
