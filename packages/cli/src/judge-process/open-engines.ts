import { dirname } from 'node:path'
import { openMini, openModelClient } from '@parley/agent'
import { type EngineFor, type Generator, openGenerator } from '@parley/judge'
import { openHttpCaller } from '@parley/rpc'
import type { Sandbox } from '@parley/sandbox'
import { ownVersion } from '../version.ts'
import { openMounts } from './connect-mount.ts'
import type { JudgePlan } from './plan.ts'

/** What writes solutions on this judge. */
export interface Engines {
  readonly generator: Generator
  close(): Promise<void>
}

/** A gateway that does not take the connection within this is not there. */
const CONNECT_MS = 10_000
/** Calls of one job at once; the gateway lets no more through either. */
const CALLS_PER_JOB = 4

/** The engines of a judge. They reach models through the gateway alone, with the key of each attempt. */
export function openEngines(
  plan: Pick<JudgePlan, 'slots' | 'token' | 'workFolder' | 'cacheFolder'>,
  ports: {
    readonly sandbox: Sandbox
    readonly now: () => number
    readonly random: (size: number) => Uint8Array
    readonly err: (text: string) => void
  },
): Engines {
  const { sandbox, now, random } = ports
  const http = openHttpCaller({ connectMs: CONNECT_MS, connections: plan.slots * CALLS_PER_JOB })
  const mounts = openMounts(ports.err)
  const engineFor: EngineFor = (prepared, { transcripts, commands }) => {
    const { wire, base_url, api_key, context_tokens, prices } = prepared
    const endpoint = { wire, baseUrl: base_url, apiKey: api_key }
    return openMini({
      model: openModelClient({ endpoint, http, now, random }),
      facts: () => ({ contextTokens: context_tokens, maxOutputTokens: null, prices }),
      ...(commands === undefined ? {} : { commands }),
      connectMount: mounts.connect,
      transcripts,
      now,
      random,
    })
  }
  const generator = openGenerator({
    engineFor,
    engines: ['mini'],
    sandbox,
    // The data folder of this judge, with the inputs of other jobs, and what it compiled for them.
    hidden: [dirname(plan.workFolder), plan.cacheFolder],
    secrets: [plan.token],
    version: ownVersion(),
    now,
  })
  return {
    generator,
    close: async () => {
      await mounts.close()
      await http.close()
    },
  }
}
