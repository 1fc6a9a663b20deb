import type { StartCodex } from '../process/codex-process.ts'
import type { RecordedLine, RecordingHeader } from '../registry/registry-types.ts'
import { type Places, normaliser } from './normalise.ts'
import { inFixedOrder } from './fixed-order.ts'
import { playScenario } from './play.ts'
import type { ScenarioAnswer, Scenario, ScenarioSettings } from './scenario.ts'

const STOP_MS = 500

/** Everything around one run: made new for each, since what a run leaves behind would show in the next. */
export interface RecordingWorld extends AsyncDisposable {
  readonly places: Places
  readonly start: StartCodex
}

export interface RecordOptions {
  readonly scenario: Scenario
  /** As `codex --version` says it. */
  readonly codex: string
  readonly version: string
  /** A Codex of that version with these settings, and a model that gives these answers. */
  readonly openWorld: (settings: ScenarioSettings, model: readonly ScenarioAnswer[]) => Promise<RecordingWorld>
}

/** Plays a scenario with a real Codex and gives the recording as the text of its file. Throws `ScenarioStuck`. */
export async function recordScenario({ scenario, codex, version, openWorld }: RecordOptions): Promise<string> {
  const { args, jsonrpc, answersBad } = serverOf(version, scenario.server)
  await using world = await openWorld(scenario.settings, scenario.model)
  const { places } = world
  const server = await world.start(args)
  const { stdin, stdout } = server
  let lines: readonly RecordedLine[]
  try {
    lines = await playScenario(scenario, { stdin, stdout, jsonrpc, answersBad, work: places.work, home: places.home })
  } finally {
    await server.stop(STOP_MS)
  }
  const header: RecordingHeader = {
    codex,
    version,
    server: `codex ${args.join(' ')}`,
    scenario: scenario.name,
    recordedWith: 'parley contracts record',
    model: 'loopback (Responses API)',
  }
  return [header, ...inFixedOrder(lines).map(normaliser(places))].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** How each version serves the 23 methods, and its MCP tools. */
export function serverOf(
  version: string,
  server: Scenario['server'],
): { readonly args: readonly string[]; readonly jsonrpc: boolean; readonly answersBad: boolean } {
  if (version === '0.42.0') return { args: ['mcp'], jsonrpc: true, answersBad: false }
  if (server === 'methods') return { args: ['app-server'], jsonrpc: false, answersBad: true }
  return { args: ['mcp-server'], jsonrpc: true, answersBad: version !== '0.44.0' }
}
