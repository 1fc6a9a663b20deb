import { type ModelLimits, openMini, openModelClient } from '@parley/mini'
import { type EngineFor, type Generator, guestsOf, openGenerator } from '@parley/judge'
import type { EngineName } from '@parley/protocol'
import { openHttpFetcher } from '@parley/rpc'
import type { Sandbox } from '@parley/sandbox'
import { dirname } from 'node:path'
import { makeFolder } from '@parley/command-line/commands'
import { toolchainsOf } from '../installed/toolchains.ts'
import { ownVersion } from '../version.ts'
import { type CodexEngineOptions, CodexUnfit, openCodexEngine } from './codex/open-codex-engine.ts'
import { codexStatusServer, ownFiles } from './codex/own-files.ts'
import { type CodexCheck, checkCodex } from './codex/check-codex.ts'
import { openMounts } from './connect-mount.ts'
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

/** A gateway that does not take the connection within this is not there. */
const CONNECT_MS = 10_000
/** Calls of one job at once; the gateway lets no more through either. */
const CALLS_PER_JOB = 4

/** The engines of a judge. They reach models through the gateway alone, with the key of each attempt. */
export function openEngines(plan: EnginePlan, parts: EngineParts): Engines {
  const { sandbox, now, random } = parts
  const codex = checkCodex(plan, sandbox)
  const http = openHttpFetcher({ connectMs: CONNECT_MS, connections: (plan.slots + guestsOf(plan.slots)) * CALLS_PER_JOB })
  const mounts = openMounts(parts.err)
  // The data folder of this judge, with the inputs of other jobs, and what it compiled for them.
  const hidden = [dirname(plan.workFolder), plan.cacheFolder]
  // What is to be hidden must be there: a program could make it otherwise.
  for (const folder of hidden) makeFolder(folder)
  const toolchains = toolchainsOf(plan.sandboxRead ?? [], { PATH: plan.tools.searchPath.join(':') }, hidden)
  const limits = modelLimits(plan)
  const mini: EngineFor = (prepared, { transcripts, commands }) => {
    const { wire, base_url, api_key, context_tokens, prices } = prepared
    const endpoint = { wire, baseUrl: base_url, apiKey: api_key }
    return openMini({
      model: openModelClient({ endpoint, http, limits, now, random }),
      facts: () => ({ contextTokens: context_tokens, maxOutputTokens: null, prices }),
      ...(commands === undefined ? {} : { commands }),
      connectMount: mounts.connect,
      transcripts,
      now,
      random,
    })
  }
  const real = realCodex(codex, {
    hidden,
    readable: [...ownFiles(), ...toolchains.readable],
    http,
    warn: parts.warn,
    now,
    random,
  })
  const engines: EngineName[] = codex.kind === 'there' ? ['mini', 'codex'] : ['mini']
  const generator = openGenerator({
    engineFor: (prepared, ports) => (ports.engine === 'codex' ? real : mini)(prepared, ports),
    engines,
    defaultEngine: plan.engine === 'codex' ? 'codex' : 'mini',
    statusServers: { codex: codexStatusServer },
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
    close: async () => {
      await mounts.close()
      await http.close()
    },
  }
}

type EnginePlan = Pick<
  JudgePlan,
  'slots' | 'token' | 'workFolder' | 'cacheFolder' | 'engine' | 'codexPath' | 'tools' | 'model' | 'sandboxRead'
>

const modelLimits = ({ model: { tries, waitMs, silentMs } = {} }: EnginePlan): Partial<ModelLimits> => ({
  ...(tries === undefined ? {} : { attempts: tries }),
  ...(waitMs === undefined ? {} : { waitedMs: waitMs }),
  ...(silentMs === undefined ? {} : { firstTokenMs: silentMs }),
})

function realCodex(codex: CodexCheck, options: Omit<CodexEngineOptions, 'codex' | 'start'>): EngineFor {
  if (codex.kind === 'missing') return () => Promise.reject(new CodexUnfit(codex.why))
  const { found, start } = codex
  return (prepared, ports) => openCodexEngine({ ...options, codex: found, start }, prepared, ports)
}
