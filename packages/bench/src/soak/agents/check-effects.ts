import { type Store, callsLog } from '@parley/store'
import * as z from 'zod'
import type { Tally } from '../../soak.ts'
import type { MountLine, SoakAgent } from './agents-world.ts'
import type { CallEnd } from './effect-caller.ts'

const PAGE_BYTES = 1024 * 1024
/** The gateways follow the time of day and do not jump to it. */
const CLOCK_MS = 250

const Decided = z.object({
  step: z.literal('decided'),
  id: z.number(),
  arguments: z.object({ call: z.string() }),
  decision: z.object({ kind: z.string() }),
})

interface DecidedCall {
  readonly call: string
  /** Of whoever held the agent then: each counts its calls from 1. */
  readonly holding: number
  readonly writtenAt: number
}

/** Holds what the mounts of an agent did against what its callers were told and what was written down before. */
export async function checkAgent(
  { logs }: Pick<Store, 'logs'>,
  agent: SoakAgent,
  ends: ReadonlyMap<string, CallEnd>,
  tally: Tally,
): Promise<void> {
  const lines = agent.lines()
  const effects = Map.groupBy(
    lines.filter((line) => line.step === 'effect'),
    ({ call }) => call,
  )
  tally.count('effects', lines.filter(({ step }) => step === 'effect').length)
  for (const [call, times] of effects) {
    tally.expect(times.length === 1, `${call} had ${times.length} effects`)
    tally.expect(ends.has(call), `${call} had an effect and was never made`)
  }
  for (const [call, end] of ends) {
    if (end === 'success') tally.expect(effects.has(call), `${call} was answered and had no effect`)
    if (end !== 'success' && effects.has(call)) tally.count(`effects of calls that ended as ${end}`)
  }
  const decided = new Map((await decidedCalls(logs, agent, tally)).map((each) => [each.call, each]))
  tally.count('decided', decided.size)
  for (const [call, [effect]] of effects) {
    const line = decided.get(call)
    tally.expect(line !== undefined, `${call} had an effect and was not written down`)
    if (line === undefined || effect === undefined) continue
    tally.expect(
      line.writtenAt <= effect.at + CLOCK_MS,
      `${call} was written down ${line.writtenAt - effect.at} ms after its effect`,
    )
  }
  checkHolders(agent, lines, decided, tally)
}

/**
 * The log is one after the other by its offsets, and each holder counts from 1: so it shows who held the agent when. The effects must come
 * in the same order, each mount belongs to one holder, and none acts any more once the mount of the next host has.
 */
function checkHolders(
  agent: SoakAgent,
  lines: readonly MountLine[],
  decided: ReadonlyMap<string, DecidedCall>,
  tally: Tally,
): void {
  const hosts = new Map(lines.flatMap((line) => (line.step === 'start' ? [[line.mount, line.host] as const] : [])))
  const holdingOf = new Map<string, number>()
  let latest = { holding: 0, mount: '' }
  for (const line of lines) {
    if (line.step !== 'effect') continue
    const holding = decided.get(line.call)?.holding
    if (holding === undefined) continue
    const known = holdingOf.get(line.mount) ?? holding
    holdingOf.set(line.mount, known)
    tally.expect(known === holding, `${agent.id}: the mount ${line.mount} acted for two holders (${line.call})`)
    if (holding < latest.holding)
      tally.expect(
        hosts.get(line.mount) === hosts.get(latest.mount),
        `${agent.id}: ${line.call} had its effect by a host that had lost the agent to another that had begun`,
      )
    else latest = { holding, mount: line.mount }
  }
  tally.count('holders', new Set(holdingOf.values()).size)
}

async function decidedCalls(logs: Store['logs'], agent: SoakAgent, tally: Tally): Promise<readonly DecidedCall[]> {
  const found: DecidedCall[] = []
  let holding = 0
  let last = 0
  for await (const { text, at } of linesOf(logs, callsLog(agent.id))) {
    const { data } = Decided.safeParse(JSON.parse(text))
    if (data === undefined) continue
    tally.expect(data.decision.kind === 'allow', `${agent.id}: ${text} was not allowed`)
    if (data.id <= last) {
      tally.expect(data.id === 1, `${agent.id}: the log goes back from call ${last} to ${data.id}`)
      holding += 1
    }
    last = data.id
    found.push({ call: data.arguments.call, holding, writtenAt: at })
  }
  const calls = new Set(found.map(({ call }) => call))
  tally.expect(calls.size === found.length, `${agent.id}: ${found.length - calls.size} calls were decided about twice`)
  return found
}

async function* linesOf(logs: Store['logs'], log: string): AsyncGenerator<{ readonly text: string; readonly at: number }> {
  for (let seq = 0; ;) {
    const { entries } = await logs.read(log, { from: { seq }, maxBytes: PAGE_BYTES })
    if (entries.length === 0) return
    for (const { bytes, at } of entries)
      for (const text of Buffer.from(bytes).toString('utf8').split('\n')) if (text !== '') yield { text, at }
    seq += entries.length
  }
}
