import { dirname } from 'node:path'
import { type Generator, guestsOf, openGenerator } from '@parley/judge'
import type { EngineName } from '@parley/protocol'
import type { Sandbox } from '@parley/sandbox'
import { makeFolder } from '@parley/command-line/commands'
import { checkCodex } from '../engine/check-codex.ts'
import { openModelEngines } from '../engine/open-model-engines.ts'
import { relayedServer } from '../engine/own-files.ts'
import { toolchainsOf } from '../installed/toolchains.ts'
import { ownVersion } from '../version.ts'
import type { JudgePlan } from './plan.ts'

/** What writes solutions on this judge. */
export interface Engines {
  readonly generator: Generator
  readonly names: readonly EngineName[]
  /** Which there are, in words for a person; a warning where one was named that is not there. */
  readonly words: { readonly level: 'debug' | 'warn'; readonly text: string }
  close(): Promise<void>
}

export interface EngineParts {
  readonly sandbox: Sandbox
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  readonly err: (text: string) => void
  readonly warn: (message: string) => void
}

/** Calls of one job at once; the gateway lets no more through either. */
const CALLS_PER_JOB = 4

/** The engines of a judge, and what makes them write solutions. */
export function openEngines(plan: EnginePlan, parts: EngineParts): Engines {
  const { sandbox, now, random, err, warn } = parts
  const codex = checkCodex(plan, sandbox)
  // The data folder of this judge, with the inputs of other jobs, and what it compiled for them.
  const hidden = [dirname(plan.workFolder), plan.cacheFolder]
  // What is to be hidden must be there: a program could make it otherwise.
  for (const folder of hidden) makeFolder(folder)
  const toolchains = toolchainsOf(plan.sandboxRead ?? [], { PATH: plan.tools.searchPath.join(':') }, hidden)
  const made = openModelEngines({
    clientName: 'parley-judge',
    codex: () => codex,
    hidden,
    readable: () => toolchains.readable,
    connections: (plan.slots + guestsOf(plan.slots)) * CALLS_PER_JOB,
    limits: plan.model ?? {},
    now,
    random,
    err,
    warn,
  })
  const engines: EngineName[] = codex.kind === 'there' ? ['mini', 'codex'] : ['mini']
  const generator = openGenerator({
    engineFor: made.engineFor,
    engines,
    defaultEngine: plan.engine === 'codex' ? 'codex' : 'mini',
    statusServers: { codex: (socketPath) => relayedServer('status-server', { PARLEY_STATUS_SOCKET: socketPath }) },
    sandbox,
    hidden,
    ...toolchains,
    secrets: [plan.token],
    version: ownVersion(),
    now,
  })
  return {
    generator,
    names: engines,
    words:
      codex.kind === 'there'
        ? { level: 'debug', text: `mini, codex (${codex.found.path})` }
        : { level: plan.codexPath === undefined ? 'debug' : 'warn', text: `mini; no codex: ${codex.why}` },
    close: () => made.close(),
  }
}

type EnginePlan = Pick<
  JudgePlan,
  'slots' | 'token' | 'workFolder' | 'cacheFolder' | 'engine' | 'codexPath' | 'tools' | 'model' | 'sandboxRead'
>
