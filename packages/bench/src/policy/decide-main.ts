import { parseArgs } from 'node:util'
import { compilePolicy, decide, type LayerPolicy, parsePolicy, type PolicyCall } from '@parley/policy'
import type { Measured } from './measured.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '1' } } })
const TARGET_MS = Number(values.seconds) * 1_000

const RULES = 50
const FEW = 5
const MANY = 499
/** Calls of one sample: the clock itself takes as long as a bare function. */
const BATCH = 20
const WARM_CALLS = 20_000

/** In each layer one rule has a condition that must be evaluated; together they let the call through. */
const CONDITIONS = {
  installation: '!args.path.contains("..") && kind == "tool"',
  owner: 'args.path.startsWith("/src/") && size(args.text) < 100000',
  agent: 'args.path.matches("\\\\.(ts|js)$") && counts.hour < 1000',
}
const LAYERS = ['installation', 'owner', 'agent'] as const

const call: PolicyCall = {
  caller: { role: 'agent', name: 'helper' },
  agent: { id: 'agt_1', name: 'helper', owner: 'ada' },
  session: null,
  kind: 'tool',
  mount: 'files',
  mountVersion: 1,
  name: 'write_file',
  arguments: { path: '/src/main.ts', text: 'export const answer = 42\n'.repeat(40), mode: 'overwrite', lines: [1, 2, 3] },
  annotations: { readOnlyHint: false },
  counts: { turn: 3, hour: 30, day: 300 },
  now: Date.parse('2026-11-18T10:00:00Z'),
}

/** Rules for other mounts and tools, half of them with a condition, and the one for this call at the end. */
function layersOf(others: number): readonly LayerPolicy[] {
  return LAYERS.map((layer) => {
    const rule: object[] = Array.from({ length: others }, (_, at) => ({
      name: `other-${at}`,
      mount: at % 2 === 0 ? `mount-${at}` : 'files',
      tool: at % 3 === 0 ? `tool_${at}_*` : [`read_${at}`, `list_${at}`],
      ...(at % 2 === 0 ? { when: 'args.path == "x"' } : {}),
      decision: 'deny_continue',
    }))
    rule.push({ name: 'this', mount: 'files', tool: 'write_*', when: CONDITIONS[layer], decision: 'allow' })
    const parsed = parsePolicy({ rule })
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems))
    return { layer, policy: compilePolicy(parsed.policy) }
  })
}

/** The same decision, written out. */
const SOURCE = /\.(ts|js)$/
function bare({ kind, mount, name, arguments: args, counts }: PolicyCall): string {
  if (kind !== 'tool' || mount !== 'files' || !name.startsWith('write_')) return 'ask'
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'evaluator_error'
  const { path, text } = args
  if (typeof path !== 'string' || typeof text !== 'string') return 'evaluator_error'
  if (path.includes('..') || !path.startsWith('/src/')) return 'ask'
  return text.length < 100_000 && SOURCE.test(path) && (counts?.hour ?? Infinity) < 1_000 ? 'allow' : 'ask'
}

function sampled(once: () => string): readonly number[] {
  for (let count = 0; count < WARM_CALLS; count += 1)
    if (once() !== 'allow') throw new Error(`the call is not let through: ${once()}`)
  const until = performance.now() + TARGET_MS
  const samples: number[] = []
  while (performance.now() < until || samples.length === 0) {
    const started = process.hrtime.bigint()
    for (let count = 0; count < BATCH; count += 1) once()
    samples.push(Number(process.hrtime.bigint() - started) / BATCH / 1_000)
  }
  return samples
}

let unseen = 0
const [usual, few, many] = [layersOf(RULES - 1), layersOf(FEW), layersOf(MANY)]
const us = {
  policy: sampled(() => decide(call, usual).decision),
  function: sampled(() => bare(call)),
  cannot_match_5: sampled(() => decide(call, few).decision),
  cannot_match_500: sampled(() => decide(call, many).decision),
  // A name that was not called before: every rule is looked at once.
  first_call: sampled(() => decide({ ...call, name: `write_${(unseen += 1)}` }, usual).decision),
}
const shares = (samples: readonly number[]): number[] => {
  const sorted = samples.toSorted((a, b) => a - b)
  return [0.5, 0.99].map((share) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN)
}
const measured: Measured = { us: Object.fromEntries(Object.entries(us).map(([target, samples]) => [target, shares(samples)])) }
process.stdout.write(`${JSON.stringify(measured)}\n`)
