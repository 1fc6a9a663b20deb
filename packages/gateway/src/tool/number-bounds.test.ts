import { TOOLS, type ToolName, isJsonObject } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { CLAIM_STAYS, callersOf, placesIn, sensibleArguments, withValue } from '../fixture/every-tool.ts'
import { openTestGateway } from '../fixture/test-gateway.ts'

/** The largest that JavaScript counts to and one more, one beyond 32 bits, and one below nothing. */
const ODD_NUMBERS = [2 ** 53 - 1, 2 ** 53, 2 ** 31, -1]
/** Other answers that a number may get, or the tool gives to whatever it is asked here. */
const REFUSALS: ReadonlySet<unknown> = new Set(['quota_exceeded', 'no_session', 'conflict'])
const NUMBERS: ReadonlySet<unknown> = new Set(['integer', 'number'])

const FIELDS: readonly (readonly [name: ToolName, path: string])[] = [
  ...Object.values(TOOLS).flatMap(({ name, input }) =>
    placesIn(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }), NUMBERS).map((path) => [name, path] as const),
  ),
  // In documents whose schema says nothing of them.
  ['judge.usage.ingest', 'usage.input_tokens'],
  ['judge.job.patch_state', 'patch.attempt'],
]

describe.each(ENGINES)('numbers of arguments on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('whatever they are, no tool fails for a fault of ours', { timeout: 300_000 }, async () => {
    await using gw = await openTestGateway({ limits: CLAIM_STAYS }, await host.migratedUrl())
    await using callers = await callersOf(gw)
    const otherwise = await sensibleArguments(gw, callers.judge)
    expect(FIELDS).toContainEqual(['blob.write', 'offset'])
    const faults: unknown[] = []
    for (const [name, path] of FIELDS) {
      const args = otherwise[name]
      if (args === undefined) throw new Error(`${name} has a number (${path}): say here how it is called`)
      for (const value of ODD_NUMBERS) {
        const reply = await callers.call(name, withValue(args, path, value))
        const error = reply._meta?.['parley/error']
        if (!isJsonObject(error)) continue
        const isNamed = error['code'] === 'invalid_argument' && error['field'] === path
        if (!isNamed && !REFUSALS.has(error['code'])) faults.push([name, path, value, error])
      }
    }
    expect(faults).toEqual([])
    expect(gw.logged.filter((line) => line.includes('"level":50'))).toEqual([])
  })
})
