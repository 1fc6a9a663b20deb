import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConversationOptions, Engine } from '@parley/agent'
import { CONTRACT_MOUNT, type ContractHarness, type ContractWorld, contractTools } from '@parley/agent/testing'
import { type Answer, type ReceivedRequest, errorReply, openModelServer } from '@parley/agent/testing/model-server'
import { engineOf } from '../bridge/engine-of.ts'
import { type Bridge, type BridgeOptions, openBridge } from '../bridge/open-bridge.ts'
import { type CodexHome, type CodexPeer, type CodexPeerStarter, codexHome, startCodexPeer } from '@parley/contracts/testing'
import { codexModelAnswers, minorOf } from './model-answers.ts'
import { serveCommand, serveHttp } from './serve-mounted.ts'

export interface CodexWorldOptions {
  readonly peer: CodexPeer
  /** Of the dialect of the model's answers; that of the peer when left out. */
  readonly version?: string
  /** More TOML for the configuration. */
  readonly extra?: string
  readonly env?: Readonly<Record<string, string>>
  /** An engine over the Codex that `world.start` starts; left out, one over a bridge. */
  readonly openEngine?: (world: CodexWorld) => Promise<Engine>
}

type WireAnswer = Answer | ((request: ReceivedRequest) => Answer | Promise<Answer>)

/** A real Codex with a home of its own, a loopback model and a mounted server. */
export interface CodexWorld extends ContractWorld {
  readonly folder: string
  readonly home: CodexHome
  readonly start: CodexPeerStarter
  /** The world closes it if the test did not. */
  openBridge(more?: Partial<BridgeOptions>): Promise<Bridge>
  readonly modelUrl: string
  readonly requests: readonly ReceivedRequest[]
  /** Answers as they go over the wire, for what a script of moves cannot say. */
  scriptWire(model: string, answers: readonly WireAnswer[]): void
}

export async function openCodexWorld(options: CodexWorldOptions): Promise<CodexWorld> {
  const { peer, version = peer.version } = options
  await using made = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'codex-world-'))
  made.defer(() => rm(folder, { recursive: true, force: true }))
  const scripts = new Map<string, WireAnswer[]>()
  const model = made.use(
    await openModelServer({
      wire: 'responses',
      answers: (request) => {
        const next = scripts.get(modelOf(request))?.shift()
        if (next === undefined) return errorReply(400, 'no_answer', 'there is no answer left')
        return typeof next === 'function' ? next(request) : next
      },
    }),
  )
  const home = made.use(await codexHome({ modelUrl: model.url, extra: options.extra ?? '' }))
  // Versions before the HTTP client can mount commands alone.
  const mounted = made.use(await (minorOf(version) < 100 ? serveCommand : serveHttp)(contractTools()))
  const start = made.use(startCodexPeer(peer, { home, cwd: folder, env: options.env ?? {} }))
  const open: { close(): Promise<void> }[] = []
  made.defer(async () => void (await Promise.all(open.map((one) => one.close()))))
  const heard = (name: string) => model.requests.filter((request) => modelOf(request) === name)
  let folders = 0
  const finish = made.move()
  const world: CodexWorld = {
    folder,
    home,
    start,
    modelUrl: model.url,
    requests: model.requests,
    openEngine: async () => {
      const openOne = options.openEngine ?? (async () => engineOf(await world.openBridge(), { now: Date.now }))
      const engine = await openOne(world)
      open.push(engine)
      return engine
    },
    openBridge: async (more = {}) => {
      const client = { name: 'codex-world', version: '1' }
      const own = { start, version: peer.version, client, warn: () => undefined, now: Date.now, random: randomBytes }
      const bridge = await openBridge({ ...own, ...more })
      open.push(bridge)
      return bridge
    },
    options: async (name) => {
      folders += 1
      const workspace = join(folder, `workspace-${folders}`)
      await mkdir(workspace)
      const mount = { name: CONTRACT_MOUNT, required: true, server: mounted.server }
      return { ...conversationOptions(name, workspace), mounts: [mount] }
    },
    script: (name, answers) =>
      void scripts.set(
        name,
        answers.map((answer) => codexModelAnswers(version, answer)),
      ),
    scriptWire: (name, answers) => void scripts.set(name, [...answers]),
    heard: (name) => heard(name).map(({ body }) => JSON.stringify(body)),
    asked: async (name, count) => {
      for (let all = 1; heard(name).length < count; all++) await model.arrived(all)
    },
    violations: () => model.violations,
    [Symbol.asyncDispose]: () => finish.disposeAsync(),
  }
  return world
}

/** A real Codex for the engine contract. */
export function codexWorld(options: CodexWorldOptions, differs: ContractHarness['differs'] = {}): ContractHarness {
  return { open: () => openCodexWorld(options), differs }
}

const conversationOptions = (model: string, folder: string): ConversationOptions => ({
  model,
  instructions: 'Be brief.',
  folder,
  approvals: 'never',
  // Codex's own sandbox needs a kernel that not every machine for tests has.
  reach: 'full-access',
  network: false,
  mounts: [],
})

const modelOf = ({ body }: ReceivedRequest): string => (typeof body['model'] === 'string' ? body['model'] : '')
