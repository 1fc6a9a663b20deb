import type { RecordingWorld } from '../record/record-scenario.ts'
import { normaliser } from '../record/normalise.ts'
import { ScenarioStuck, playScenario } from '../record/play.ts'
import { serverOf } from '../record/record-scenario.ts'
import type { ScenarioAnswer, Scenario, ScenarioSettings, Step } from '../record/scenario.ts'
import { scenariosOf } from '../record/scenarios/index.ts'
import { type Registry, registry } from '../registry/registry.ts'
import type { ObservedVersion } from '../registry/registry-types.ts'
import { TrafficComparison, type Measure } from './compare.ts'
import { Tap } from './tap.ts'
import type { MethodVerdict } from './verdict.ts'

const STEP_MS = 30_000
const STOP_MS = 200
/** Servers that run at once. */
const PARALLEL = 4
/**
 * What is left out: whole sessions, whose parts are played by themselves; decisions that end as others do, which makes no difference to the shapes of what is sent; and the event
 * that two readers inside of Codex take from each other, so that it comes or does not.
 */
const LEFT_OUT = /^(approval-(exec|patch)-(approved_for_session|allow|deny|denied)|archive-listening|client-.*)$/

export interface CheckOptions {
  /** The recorded version that the server is compared with. */
  readonly basis: ObservedVersion
  /** A server with these settings in a place of its own, and a model that gives these answers. */
  readonly openWorld: (settings: ScenarioSettings, model: readonly ScenarioAnswer[]) => Promise<RecordingWorld>
  /** How near it must be. */
  readonly measure: Measure
  readonly stepMs?: number
  readonly contracts?: Registry
  /** Told as each scenario ends. */
  readonly onScenario?: (scenario: ScenarioEnd) => void
}

export interface ScenarioEnd {
  readonly scenario: string
  readonly ended: boolean
  /** Methods of it that the server says it cannot do: no wonder then that it did not end. */
  readonly unsupported: readonly string[]
  readonly note: string
}

export interface CheckReport {
  readonly basis: ObservedVersion
  readonly measure: Measure
  readonly drift: boolean
  readonly methods: readonly MethodVerdict[]
  /** What is wrong around the messages. */
  readonly envelope: readonly string[]
  readonly scenarios: readonly ScenarioEnd[]
}

/** Calls every method of a server, well and badly, and compares what comes with what was observed of a version. */
export async function checkServer(options: CheckOptions): Promise<CheckReport> {
  const { basis, contracts = registry, onScenario } = options
  const comparison = new TrafficComparison(contracts, basis, options.measure)
  const waiting = scenariosOf(basis).filter(({ server, name }) => server === 'methods' && !LEFT_OUT.test(name))
  const ends: ScenarioEnd[] = []
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const end = await checkScenario(next, comparison, options)
      ends.push(end)
      onScenario?.(end)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  const methods = comparison.verdicts()
  const drift =
    methods.some(({ verdict }) => verdict === 'drift') ||
    comparison.envelope.size > 0 ||
    ends.some(({ ended, unsupported }) => !ended && unsupported.length === 0)
  return { basis, measure: options.measure, drift, methods, envelope: [...comparison.envelope], scenarios: ends }
}

async function checkScenario(scenario: Scenario, comparison: TrafficComparison, options: CheckOptions): Promise<ScenarioEnd> {
  const { args, jsonrpc, answersBad } = serverOf(options.basis, scenario.server)
  await using world = await options.openWorld(scenario.settings, scenario.model)
  const server = await world.start(args)
  const { stdin, stdout } = server
  const tap = new Tap(stdin, stdout)
  const { work, home } = world.places
  let stuck: ScenarioStuck | undefined
  try {
    await playScenario(scenario, { stdin: tap.stdin, stdout, jsonrpc, answersBad, work, home, stepMs: options.stepMs ?? STEP_MS })
  } catch (error) {
    if (!(error instanceof ScenarioStuck)) throw error
    stuck = error
  } finally {
    await server.stop(STOP_MS)
  }
  const lines = tap.lines.map(normaliser(world.places))
  const unsupported = comparison.add(lines, { jsonrpc, isWhole: stuck === undefined })
  if (tap.garbage.length > 0) comparison.envelope.add(`a line is no JSON: ${tap.garbage[0]}`)
  const { name } = scenario
  if (stuck === undefined) return { scenario: name, ended: true, unsupported, note: '' }
  const method = methodOf(stuck.step)
  const why = unsupported.length === 0 ? '' : `, where ${unsupported.join(', ')} cannot be done`
  const note = `${missingText(stuck.step)} in the scenario ${name}${why}`
  if (method !== undefined) comparison[unsupported.length === 0 ? 'missing' : 'lacking'](method, note)
  return { scenario: name, ended: false, unsupported, note: stuck.message.split('\n')[0] ?? '' }
}

function methodOf(step: Step): string | undefined {
  if ('ask' in step) return step.ask
  if ('until' in step) return step.until
  if ('reply' in step) return step.reply
  if ('ignore' in step) return step.ignore
  if ('bad' in step) return step.bad
  return undefined
}

function missingText(step: Step): string {
  if ('ask' in step || 'bad' in step)
    return `was not answered with the params ${JSON.stringify(('params' in step ? step.params : null) ?? null).slice(0, 80)}`
  return 'until' in step ? `${step.until} did not come` : 'did not come'
}
