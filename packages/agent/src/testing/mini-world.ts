import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelWire } from '@parley/protocol'
import { connectClient, memoryPair, memoryTransport, openHttpCaller, serveMemory } from '@parley/rpc'
import type { ConversationOptions, Engine } from '../engine.ts'
import { openMini } from '../mini/open-mini.ts'
import type { MiniOptions } from '../mini/mini-options.ts'
import { openFileTranscripts } from '../mini/transcript/open-file-transcripts.ts'
import { openModelClient } from '../model/model-client.ts'
import type { ConnectMount, MountSpec } from '../mount.ts'
import { contractTools } from './contract/contract-tools.ts'
import { CONTRACT_MOUNT, type ContractWorld, type Move, type ScriptedAnswer } from './contract/harness.ts'
import { openLocalCommands } from './local-commands.ts'
import { lockPath } from './lock-path.ts'
import { type Answer, FAILURES, type Piece, errorReply } from './model-server/answer.ts'
import { type ReceivedRequest, openModelServer } from './model-server/model-server.ts'

export interface MiniWorldOptions {
  readonly wire: ModelWire
  readonly mini?: Partial<MiniOptions>
}

/** The own engine over files, a loopback model, real processes and a mounted server. */
export interface MiniWorld extends ContractWorld {
  readonly folder: string
  readonly modelUrl: string
  readonly requests: readonly ReceivedRequest[]
  /** Answers as they go over the wire, for what a script of moves cannot say. */
  scriptWire(model: string, answers: readonly (Answer | ((request: ReceivedRequest) => Answer))[]): void
  openEngine(more?: Partial<MiniOptions>): Promise<Engine>
}

export async function openMiniWorld({ wire, mini = {} }: MiniWorldOptions): Promise<MiniWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'mini-'))
  const scripts = new Map<string, (Answer | ((request: ReceivedRequest) => Answer))[]>()
  const server = await openModelServer({
    wire,
    answers: (request) => {
      const next = scripts.get(modelOf(request))?.shift()
      if (next === undefined) return errorReply(400, 'no_answer', 'there is no answer left')
      return typeof next === 'function' ? next(request) : next
    },
  })
  const http = openHttpCaller({ connectMs: 5_000, connections: 256 })
  const engines: Engine[] = []
  let folders = 0
  const heard = (model: string) => server.requests.filter((request) => modelOf(request) === model)
  return {
    folder,
    modelUrl: server.url,
    requests: server.requests,
    openEngine: (more = {}) => {
      const endpoint = { wire, baseUrl: server.url, apiKey: 'key' }
      const engine = openMini({
        ...miniOptions({ folder, client: openModelClient({ endpoint, http, now: Date.now, random: randomBytes }) }),
        ...mini,
        ...more,
      })
      engines.push(engine)
      return Promise.resolve(engine)
    },
    options: async (model) => {
      folders += 1
      const workspace = join(folder, `workspace-${folders}`)
      await mkdir(workspace)
      return conversationOptions(model, workspace)
    },
    script: (model, answers) => void scripts.set(model, answers.map(answerOf)),
    scriptWire: (model, answers) => void scripts.set(model, [...answers]),
    heard: (model) => heard(model).map(({ body }) => JSON.stringify(body)),
    asked: async (model, count) => {
      for (let all = 1; heard(model).length < count; all++) await server.arrived(all)
    },
    violations: () => server.violations,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(engines.map((engine) => engine.close()))
      await http.close()
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What the own engine needs, with transcripts below `folder`. */
export function miniOptions({ folder, client }: { readonly folder: string; readonly client: MiniOptions['model'] }): MiniOptions {
  return {
    model: client,
    facts: () => ({ contextTokens: null, maxOutputTokens: null, prices: null }),
    commands: openLocalCommands(),
    connectMount: connectLinked,
    transcripts: openFileTranscripts(join(folder, 'conversations'), { lock: lockPath }),
    now: Date.now,
    random: randomBytes,
  }
}

export function conversationOptions(model: string, folder: string): ConversationOptions {
  return {
    model,
    instructions: 'Be brief.',
    folder,
    approvals: 'never',
    reach: 'workspace-write',
    network: false,
    mounts: [linkedContract()],
  }
}

const linkedContract = (): MountSpec => ({
  name: CONTRACT_MOUNT,
  required: true,
  server: {
    kind: 'linked',
    open: () => {
      const { client, server } = memoryPair()
      serveMemory(server, contractTools(), { key: 'test' })
      return memoryTransport(client)
    },
  },
})

export const connectLinked: ConnectMount = ({ name, server }, signal) => {
  if (server.kind !== 'linked') throw new TypeError(`${name} is not linked`)
  return connectClient(server.open(), { clientInfo: { name: 'mini-world', version: '1' }, signal })
}

const modelOf = ({ body }: ReceivedRequest): string => (typeof body['model'] === 'string' ? body['model'] : '')

/** The moves of a script as answers on the wire. */
function answerOf(answer: ScriptedAnswer): Answer {
  if ('hang' in answer) return { silent: true }
  if ('stall' in answer) return { pieces: [{ text: `${answer.stall} ${'…'.repeat(200)}` }], manner: { stallAfterEvents: 6 } }
  if ('refuse' in answer) return { pieces: [{ refusal: answer.refuse }] }
  if ('fail' in answer)
    return answer.fail === 'unauthorized' ? FAILURES.badKey('key') : errorReply(400, 'invalid_value', 'This cannot be done.')
  return { pieces: answer.map(pieceOf), manner: { deltaCharacters: 8 } }
}

function pieceOf(move: Move): Piece {
  if ('say' in move) return { text: move.say }
  if ('think' in move) return { reasoning: move.think, encrypted: 'sealed' }
  if ('run' in move) return { call: 'shell', arguments: { command: [...move.run], workdir: null, timeout_ms: null } }
  if ('patch' in move) return { call: 'apply_patch', arguments: { patch: move.patch } }
  if ('plan' in move)
    return { call: 'update_plan', arguments: { explanation: null, plan: move.plan.map((step) => ({ ...step })) } }
  return { call: `${CONTRACT_MOUNT}_${move.use}`, arguments: move.arguments }
}
