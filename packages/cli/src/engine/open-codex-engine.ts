import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, EnginePorts } from '@parley/agent'
import { type Bridge, type CodexProgram, engineOf, openBridge } from '@parley/codex'
import { type ModelDoor, boxedEngine, openCodexHome, openModelDoor } from '@parley/codex/boxed'
import type { PreparedModel } from '@parley/protocol'
import { FolderWatch, shortSocketPath } from '@parley/workspace'
import { type HttpFetcher } from '@parley/fetch'
import type { StartLive } from '@parley/sandbox'
import { ownVersion } from '../version.ts'
import { startInBox } from './start-in-box.ts'

/** What the Codex engines of a worker have in common. */
export interface CodexEngineOptions {
  readonly codex: CodexProgram
  readonly start: StartLive
  /** Never to be seen inside. */
  readonly hidden: readonly string[]
  /** What mounted servers need to run inside. */
  readonly readable: readonly string[]
  readonly http: HttpFetcher
  /** Who we say we are to Codex. */
  readonly clientName: string
  readonly warn: (message: string) => void
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
}

/** Codex cannot run here, or not for this model: the message says why. */
export class CodexUnfit extends Error {
  readonly code = 'engine_missing'
  constructor(message: string) {
    super(message)
    this.name = 'CodexUnfit'
  }
}

/** The port of the box's own loopback behind which the model is. */
const MODEL_PORT = 8_177
/** What the folders may hold in all; a Codex that lets more be written is ended. */
const FOLDER_LIMITS = { bytes: 1024 * 1024 * 1024, entries: 100_000 }
const SOCKET_MODE = 0o666
/** A turn was interrupted before, if it could be; what is left is ended at once, within the time that an engine is given. */
const BRIDGE_LIMITS = { closeInterruptMs: 300, stopGraceMs: 100 }

/** One real Codex in a box, for one conversation. Its home stays as long as the folder of its own. */
export async function openCodexEngine(
  options: CodexEngineOptions,
  current: () => PreparedModel,
  ports: EnginePorts,
): Promise<Engine> {
  const prepared = current()
  if (prepared.wire !== 'responses')
    throw new CodexUnfit(`${prepared.model} is asked by Chat Completions, and Codex speaks the Responses API alone`)
  const home = openCodexHome({
    folder: join(ports.ownFolder, 'codex'),
    model: prepared.model,
    contextTokens: prepared.context_tokens,
    baseUrl: `http://127.0.0.1:${MODEL_PORT}/v1`,
    random: options.random,
  })
  const { path: socketPath, remove } = shortSocketPath(ports.ownFolder, 'model.sock')
  let door: ModelDoor | undefined
  let bridge: Bridge | undefined
  const close = async (): Promise<void> => {
    await bridge?.close()
    await door?.close()
    remove()
  }
  try {
    const target = () => ({ baseUrl: current().base_url, apiKey: current().api_key })
    door = await openModelDoor({ socketPath, target, http: options.http })
    // Its folder is closed to everybody else; inside of the box the user is another one.
    if (ports.mountSocket !== undefined) chmodSync(ports.mountSocket, SOCKET_MODE)
    bridge = await openBridge({
      start: startInBox({
        start: options.start,
        codex: options.codex,
        home: home.folder,
        folder: ports.folder,
        unlinked: ports.unlinked === true,
        writable: ports.reach !== 'read-only',
        hidden: [...options.hidden, ports.ownFolder],
        readable: [...options.readable, ...(ports.mountSocket === undefined ? [] : [ports.mountSocket])],
        // Its relay dials the socket of its mounts.
        network: { kind: 'proxy', port: MODEL_PORT, socketPath, localSockets: true },
        watch: (running) => watched([ports.folder, home.folder], running),
      }),
      client: { name: options.clientName, version: ownVersion() },
      warn: options.warn,
      now: options.now,
      random: options.random,
      limits: BRIDGE_LIMITS,
    })
    return boxedEngine({
      engine: engineOf(bridge, { now: options.now, prices: () => current().prices }),
      home,
      transcripts: ports.transcripts,
      warn: options.warn,
      close,
    })
  } catch (error) {
    await close()
    throw error
  }
}

/** Ends what runs when one of the folders holds too much. */
function watched([folder, ...rest]: readonly string[], running: (full: AbortSignal) => Promise<unknown>): Promise<unknown> {
  if (folder === undefined) return running(new AbortController().signal)
  return new FolderWatch(folder, FOLDER_LIMITS).watch((full) => watched(rest, (other) => running(AbortSignal.any([full, other]))))
}
