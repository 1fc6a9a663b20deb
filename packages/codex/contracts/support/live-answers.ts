import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Answer, Piece } from '@parley/agent/testing/model-server'
import { openMiniBackendWorld } from '../../src/backend/fixture/mini-backend-world.ts'
import { ScenarioStuck, playScenario } from '../../src/contract/record/play.ts'
import type { ModelAnswer, ModelMove, Scenario } from '../../src/contract/record/scenario.ts'
import { scenariosOf } from '../../src/contract/record/scenarios/index.ts'
import { UNKNOWN_ID, helloOf } from '../../src/contract/record/scenarios/opening.ts'
import { plainFolder, repository } from '../../src/contract/record/fixture/work-folder.ts'
import { exchangesOf, noticesOf } from '../../src/contract/record/traffic.ts'
import type { RecordedLine } from '../../src/contract/registry-types.ts'
import type { AppDialect } from '../../src/server/app/app-server-options.ts'
import { METHODS } from '../../src/server/app/methods.ts'
import { serveApp } from '../../src/server/app/serve-app.ts'
import type { RecordedTraffic } from './recordings.ts'

/** One for each method and notification; the rest of the scenarios would say the same again. */
export const PLAYED =
  /^(handshake|conversation-(open|talk|keep)|settings-plain|account|sign-in|workspace|turn-(exec|patch|interrupt)|approval-(exec|patch)-approved)$/
const STEP_MS = 5_000

/** Signing in, as far as our own engine goes. */
const signIn = (dialect: AppDialect): Scenario => ({
  name: 'sign-in',
  server: 'methods',
  versions: [`${dialect}.0`],
  settings: 'loopback',
  model: [],
  steps: [...helloOf(`${dialect}.0`), { ask: 'loginChatGpt' }, { ask: 'cancelLoginChatGpt', params: { loginId: UNKNOWN_ID } }],
})

const answers = new Map<AppDialect, Promise<RecordedTraffic>>()

/** What `parley app-server` answers on our own engine when the recorded scenarios are played to it. Once in a process. */
export function liveAnswers(dialect: AppDialect): Promise<RecordedTraffic> {
  const known = answers.get(dialect) ?? playAll(dialect)
  answers.set(dialect, known)
  return known
}

export interface PlayOptions {
  readonly methods?: typeof METHODS
  /** Names of scenarios. */
  readonly played?: RegExp
  readonly stepMs?: number
  /** Whether the scenario `workspace` finds one. */
  readonly hasRepository?: boolean
}

/** Plays scenarios to servers of their own, all at once. */
export async function playAll(dialect: AppDialect, options: PlayOptions = {}): Promise<RecordedTraffic> {
  const { played = PLAYED } = options
  const known = scenariosOf(`${dialect}.0`).filter(({ name }) => name !== 'sign-in')
  const scenarios = [...known, signIn(dialect)].filter(({ name }) => played.test(name))
  const lines = await Promise.all(scenarios.map((scenario) => play(scenario, dialect, options)))
  return { exchanges: lines.flatMap(exchangesOf), notices: lines.flatMap(noticesOf) }
}

async function play(
  scenario: Scenario,
  dialect: AppDialect,
  { methods = METHODS, stepMs = STEP_MS, hasRepository = true }: PlayOptions,
): Promise<readonly RecordedLine[]> {
  await using world = await openMiniBackendWorld({ needsKey: false })
  await plainFolder(join(world.workspace, 'plain'))
  if (hasRepository && scenario.name === 'workspace') await repository(join(world.workspace, 'repo'))
  await mkdir(world.data, { recursive: true })
  await writeFile(join(world.data, 'config.toml'), '[profiles.fast]\nmodel = "gpt-5-mini"\nmodel_reasoning_effort = "high"\n')
  world.say(...scenario.model.map(answerOf))
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = serveApp(
    {
      input,
      output,
      dialect,
      backend: () => Promise.resolve(world.backend),
      agent: { platform: 'Debian 12.0.0; x86_64', terminal: 'xterm', product: 'parley/0.1.0' },
      folder: world.workspace,
      note: () => undefined,
      newId: randomUUID,
    },
    methods,
  )
  const stage = { stdin: input, stdout: output, jsonrpc: dialect === '0.42', answersBad: true, stepMs }
  try {
    return await playScenario(scenario, { ...stage, work: world.workspace, home: world.data })
  } catch (error) {
    if (!(error instanceof ScenarioStuck)) throw error
    // What came until then is looked at; what is missing fails its own test.
    return error.lines
  } finally {
    input.end()
    await ended
  }
}

function answerOf(answer: ModelAnswer): Answer {
  if ('refuse' in answer) return { pieces: [], end: { failed: { code: 'server_error', message: answer.refuse } } }
  if ('stall' in answer) return { pieces: [{ text: `${answer.stall}${'.'.repeat(200)}` }], manner: { stallAfterEvents: 6 } }
  return { pieces: answer.map(pieceOf) }
}

/** One move in the tools of our own engine. */
function pieceOf(move: ModelMove): Piece {
  if ('say' in move) return { text: move.say }
  if ('think' in move) return { reasoning: move.think }
  if ('plan' in move) return { call: 'update_plan', arguments: { plan: move.plan.map((step) => ({ ...step })) } }
  if ('use' in move) return { call: `${move.server}_${move.use}`, arguments: move.arguments }
  if ('run' in move) return { call: 'shell', arguments: { command: [...move.run], workdir: null, timeout_ms: null } }
  return { call: 'apply_patch', arguments: { patch: move.patch } }
}
