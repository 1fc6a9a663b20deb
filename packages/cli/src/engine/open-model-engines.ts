import type { EngineFor } from '@parley/agent'
import { type ModelClient, type ModelLimits, openMini, openModelClient } from '@parley/mini'
import type { PreparedModel } from '@parley/protocol'
import { openHttpFetcher } from '@parley/fetch'
import type { CodexCheck } from './check-codex.ts'
import { openMounts } from './connect-mount.ts'
import { CodexUnfit, openCodexEngine } from './open-codex-engine.ts'
import { ownFiles } from './own-files.ts'

/** What makes engines for prepared keys, for jobs and for agents alike. */
export interface ModelEngines {
  readonly engineFor: EngineFor
  close(): Promise<void>
}

export interface ModelEngineOptions {
  /** Who they say they are to Codex and to mounted servers. */
  readonly clientName: string
  /** Whether there is a Codex here, and a sandbox that holds it; asked for the first conversation that wants one. */
  readonly codex: () => CodexCheck | Promise<CodexCheck>
  /** Never to be seen by what a Codex runs, and what it may see beside the system. */
  readonly hidden: readonly string[]
  readonly readable: () => readonly string[]
  /** To the gateway at once. */
  readonly connections: number
  readonly limits: Partial<ModelLimits>
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  readonly err: (text: string) => void
  readonly warn: (message: string) => void
}

/** A gateway that does not take the connection within this is not there. */
const CONNECT_MS = 10_000

/** The engines of a worker. They reach models through the gateway alone, with the key of each attempt or turn. */
export function openModelEngines(options: ModelEngineOptions): ModelEngines {
  const { clientName, connections, limits, now, random } = options
  const http = openHttpFetcher({ connectMs: CONNECT_MS, connections })
  const mounts = openMounts({ complain: options.err, clientName })
  const modelOf = (prepared: () => PreparedModel): ModelClient => {
    let open: { readonly of: PreparedModel; readonly client: ModelClient } | undefined
    return {
      sample: (request, listener, signal) => {
        const of = prepared()
        if (open?.of !== of) {
          const endpoint = { wire: of.wire, baseUrl: of.base_url, apiKey: of.api_key }
          open = { of, client: openModelClient({ endpoint, http, limits, now, random }) }
        }
        return open.client.sample(request, listener, signal)
      },
    }
  }
  const mini: EngineFor = (prepared, { transcripts, commands, gate }) =>
    openMini({
      model: modelOf(prepared),
      facts: () => {
        const { context_tokens: contextTokens, prices } = prepared()
        return { contextTokens, maxOutputTokens: null, prices }
      },
      ...(commands === undefined ? {} : { commands }),
      ...(gate === undefined ? {} : { gate }),
      connectMount: mounts.connect,
      transcripts,
      now,
      random,
    })
  const codex: EngineFor = async (prepared, ports) => {
    const check = await options.codex()
    if (check.kind === 'missing') throw new CodexUnfit(check.why)
    const { found, start } = check
    const readable = [...ownFiles(), ...options.readable()]
    return openCodexEngine({ ...options, readable, codex: found, start, http }, prepared, ports)
  }
  return {
    engineFor: (prepared, ports) => (ports.engine === 'codex' ? codex : mini)(prepared, ports),
    close: async () => {
      await mounts.close()
      await http.close()
    },
  }
}
