import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contractTools } from '@parley/agent/testing'
import { type Answer, type Piece, type ReceivedRequest, errorReply, openModelServer } from '@parley/agent/testing/model-server'
import { connectClient, memoryPair, memoryTransport, serveMemory } from '@parley/rpc'
import type { BackedConversation, Backend } from '../../../backend/backend.ts'
import { openCodexBackend } from '../../../backend/codex/open-codex-backend.ts'
import { openMiniBackendWorld } from '../../../backend/fixture/mini-backend-world.ts'
import { openBridge } from '../../../bridge/open-bridge.ts'
import { configText, pieceOf, playing } from '../../../contract/record/fixture/recording-world.ts'
import { GIT, plainFolder, repository } from '../../../contract/record/fixture/work-folder.ts'
import type { Places } from '../../../contract/record/normalise.ts'
import type { ModelMove, Scenario } from '../../../contract/record/scenario.ts'
import { type CodexPeer, serveCommand, startCodexPeer } from '../../../testing/index.ts'
import { portsOf } from '../../app/testing/ports-of.ts'

/** What stands behind the server in one replay: set up as the recorded Codex was. */
export interface ReplaySet extends AsyncDisposable {
  readonly places: Places
  readonly backend: () => Promise<Backend>
}

/** An engine that recorded clients are replayed on. */
export interface ReplayEngine extends AsyncDisposable {
  /** One at a time. */
  set(scenario: Scenario): Promise<ReplaySet>
}

const CONTEXT_WINDOW = 272_000

/** Our own engine, a new one each time. */
export function miniEngine(): ReplayEngine {
  return {
    set: async (scenario) => {
      const world = await openMiniBackendWorld({
        needsKey: scenario.settings === 'openai',
        facts: () => ({ contextTokens: CONTEXT_WINDOW, maxOutputTokens: null, prices: null }),
        connectMount: (_, signal) => {
          const { client, server } = memoryPair()
          serveMemory(server, contractTools(), { key: 'replay' })
          return connectClient(memoryTransport(client), { clientInfo: { name: 'replay', version: '1' }, signal })
        },
      })
      const { data, workspace, model } = world
      await mkdir(data, { recursive: true })
      await writeFile(join(data, 'config.toml'), configText(scenario.settings, model.url, { kind: 'stdio' }))
      await fillFolder(workspace, scenario)
      const answer = playing(scenario.model, miniPiece)
      // Ours tries again what may yet succeed; what is refused for good is what the recorded Codex was set to take it for.
      const played = scenario.model.map((one) => ('refuse' in one ? errorReply(400, 'server_error', one.refuse) : answer))
      world.say(...played)
      return {
        places: { work: workspace, home: data, modelUrl: model.url },
        backend: () => Promise.resolve(world.backend),
        [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** A bridge to one real Codex for all replays: its configuration and its conversations are put back for each. */
export async function codexEngine(peer: CodexPeer): Promise<ReplayEngine> {
  await using made = new AsyncDisposableStack()
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'codex-replay-')))
  made.defer(() => rm(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  await mkdir(join(home, 'tmp'), { recursive: true })
  let answer: (request: ReceivedRequest) => Answer = () => errorReply(400, 'no_answer', 'there is no answer left')
  const model = made.use(await openModelServer({ wire: 'responses', answers: (request) => answer(request) }))
  const mounted = made.use(await serveCommand(contractTools()))
  const start = made.use(startCodexPeer(peer, { home: { path: home }, cwd: folder, env: GIT }))
  await writeFile(join(home, 'config.toml'), configText('loopback', model.url, mounted.server))
  const bridge = await openBridge({
    start,
    version: peer.version,
    client: { name: 'replay', version: '1' },
    warn: () => undefined,
    now: Date.now,
    random: randomBytes,
  })
  const backend = openCodexBackend({ bridge, now: Date.now })
  made.defer(() => backend.close())
  const finish = made.move()
  let sets = 0
  return {
    set: async (scenario) => {
      sets += 1
      const work = join(folder, `work-${sets}`)
      // It cannot even be read any more with a profile that is active.
      const config = configText(scenario.settings, model.url, mounted.server).replace(/^profile = .*\n/m, '')
      await writeFile(join(home, 'config.toml'), config)
      await fillFolder(work, scenario)
      answer = playing(scenario.model, (move, id) => pieceOf(peer.version, move, id))
      const open: BackedConversation[] = []
      const kept = async (opening: Promise<BackedConversation>): Promise<BackedConversation> => {
        const conversation = await opening
        open.push(conversation)
        return conversation
      }
      return {
        places: { work, home, modelUrl: model.url },
        backend: () =>
          Promise.resolve(
            portsOf(backend, {
              open: (order, listener) => kept(backend.open(order, listener)),
              resume: (which, order, listener) => kept(backend.resume(which, order, listener)),
            }),
          ),
        [Symbol.asyncDispose]: async () => {
          await Promise.all(open.map((conversation) => conversation.close()))
          // Codex runs on and may still write to them: they are put aside in one step, and go with the folder.
          for (const kind of ['sessions', 'archived_sessions']) {
            const path = join(home, kind)
            if (existsSync(path)) await rename(path, join(folder, `${kind}-${sets}`))
          }
        },
      }
    },
    [Symbol.asyncDispose]: () => finish.disposeAsync(),
  }
}

async function fillFolder(work: string, { name }: Scenario): Promise<void> {
  await plainFolder(join(work, 'plain'))
  if (name === 'workspace') await repository(join(work, 'repo'))
}

/** One move in the tools of our own engine. */
function miniPiece(move: ModelMove, id: () => string): Piece {
  if ('say' in move) return { text: move.say }
  if ('think' in move) return { reasoning: move.think, encrypted: 'sealed' }
  if ('plan' in move) return { call: 'update_plan', arguments: { plan: move.plan.map((step) => ({ ...step })) }, id: id() }
  if ('use' in move) return { call: `${move.server}_${move.use}`, arguments: move.arguments, id: id() }
  if ('patch' in move) return { call: 'apply_patch', arguments: { patch: move.patch }, id: id() }
  return { call: 'shell', arguments: { command: [...move.run], workdir: null, timeout_ms: null }, id: id() }
}
