import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { peerOrSkip } from '../../../../../scripts/peers/peer-or-skip.ts'
import { normaliser } from '../../contract/record/normalise.ts'
import { scenariosOf } from '../../contract/record/scenarios/index.ts'
import { parseRecording } from '../../contract/record/traffic.ts'
import { holdSignInPort } from '../../testing/hold-sign-in-port.ts'
import { compare } from './compare.ts'
import { exceptionsAt } from './exception.ts'
import { EXCEPTIONS } from './exceptions.ts'
import { replayedOf } from './replayed.ts'
import { type ReplayEngine, codexEngine, miniEngine } from './testing/replay-world.ts'
import { REPLAYED_VERSIONS, replay } from './testing/replay.ts'

const RECORDINGS = new URL('../../../contracts/recordings/', import.meta.url)
const peer = await peerOrSkip('codex-0.166')
const used = new Set<string>()
/** One of them wants a port that others want as well. */
const TAKES_TURNS = { timeout: 240_000 }

/** All clients of 0.42 and 0.44; of 0.153 those of the MCP server, since its app-server has other methods. */
const CLIENTS = REPLAYED_VERSIONS.flatMap((version) =>
  scenariosOf(version)
    .filter(({ server }) => version !== '0.153.4' || server === 'tools')
    .map((scenario) => ({ version, scenario, name: scenario.name })),
)

// Whether an exception was needed is known when all clients have been replayed.
describe('replayed', { shuffle: false }, () => {
  describe.each([
    { engine: 'mini', what: 'our own engine', isThere: true },
    { engine: 'codex', what: 'the bridge to 0.166', isThere: peer !== undefined },
  ] as const)('on $what, a client gets what it got from Codex', ({ engine, isThere }) => {
    let behind: ReplayEngine
    beforeAll(async () => {
      if (engine === 'mini') behind = miniEngine()
      else if (peer !== undefined) behind = await codexEngine(peer)
    })
    afterAll(() => behind[Symbol.asyncDispose]())

    test.skipIf(!isThere).for(CLIENTS)('$version $name', TAKES_TURNS, async ({ version, scenario }) => {
      const { lines } = parseRecording(readFileSync(new URL(`${version}/${scenario.name}.jsonl`, RECORDINGS), 'utf8'))
      const exceptions = exceptionsAt(EXCEPTIONS, { engine, version, scenario: scenario.name })
      const { steps, recorded, used: excusedSteps } = replayedOf(scenario, lines, exceptions)
      await using _port = engine === 'codex' && scenario.name === 'sign-in' ? await holdSignInPort() : null
      await using set = await behind.set(scenario)
      const ours = await replay({ ...scenario, steps }, version, set)
      const compared = compare(recorded, ours.map(normaliser(set.places)), exceptions)
      for (const name of [...excusedSteps, ...compared.used]) used.add(name)
      expect(compared.differences).toEqual([])
    })
  })

  test('every exception is still needed', () => {
    const there = EXCEPTIONS.filter(({ engine }) => engine !== 'codex' || peer !== undefined)
    expect(there.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([])
    expect(new Set(EXCEPTIONS.map(({ name }) => name)).size).toBe(EXCEPTIONS.length)
  })
})
