import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { serveStdio } from '@parley/rpc'
import { inFixedOrder } from '../../../contract/record/fixed-order.ts'
import { playScenario } from '../../../contract/record/play.ts'
import type { Scenario, Step } from '../../../contract/record/scenario.ts'
import type { RecordedLine } from '../../../contract/registry-types.ts'
import { serveApp } from '../../app/serve-app.ts'
import { mcpServer } from '../../mcp/mcp-server.ts'
import type { ReplaySet } from './replay-world.ts'

/** Whose clients are replayed. */
export const REPLAYED_VERSIONS = ['0.42.0', '0.44.0', '0.153.4'] as const
export type ReplayedVersion = (typeof REPLAYED_VERSIONS)[number]

const AGENT = { platform: 'Debian 12.0.0; x86_64', terminal: 'xterm', product: 'parley/0.1.0' }

/** Sends to our server what the client of that version sent, and gives all that went either way. Throws `ScenarioStuck`. */
export async function replay(scenario: Scenario, version: ReplayedVersion, set: ReplaySet): Promise<readonly RecordedLine[]> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = serve(scenario, version, set, { input, output })
  const { work, home } = set.places
  const jsonrpc = version === '0.42.0' || scenario.server === 'tools'
  const steps = withAnswers(scenario.steps)
  try {
    const stage = { stdin: input, stdout: output, jsonrpc, answersBad: true, work, home }
    return inFixedOrder(await playScenario({ name: scenario.name, steps }, stage))
  } finally {
    input.end()
    await ended
  }
}

async function serve(
  { server }: Scenario,
  version: ReplayedVersion,
  { backend, places }: ReplaySet,
  streams: { readonly input: PassThrough; readonly output: PassThrough },
): Promise<void> {
  if (server === 'methods' || version === '0.42.0') {
    const dialect = version === '0.42.0' ? '0.42' : '0.44'
    const more = { folder: places.work, note: () => undefined, newId: randomUUID }
    return serveApp({ ...streams, dialect, backend, agent: AGENT, ...more })
  }
  const dialect = version === '0.44.0' ? '0.44' : '0.153'
  const service = mcpServer({ backend, dialect, agent: AGENT, folder: places.work, log: () => undefined })
  await serveStdio({ ...streams, service })
  await service.close()
}

/** What Codex never answered is answered by ours: the client is there until it has come. */
function withAnswers(steps: readonly Step[]): readonly Step[] {
  const late: Step[] = []
  const sent = steps.map((step, index): Step => {
    if (!('unanswered' in step)) return step
    const as = `late-${index}`
    late.push({ finish: as })
    return { begin: step.unanswered, as, ...(step.params === undefined ? {} : { params: step.params }) }
  })
  return [...sent, ...late]
}
