import { describe, expect, test } from 'vitest'
import { killRounds } from './fixture/kill-rounds.ts'
import { ENGINES, startEngine } from './testing/engines.ts'

const ROUNDS = 5

describe.each(ENGINES)('kill -9 on %s', (engine) => {
  test('everything acknowledged is there, once', async () => {
    await using host = await startEngine(engine)
    const report = await killRounds({ url: await host.freshUrl(), rounds: ROUNDS, seed: 7 })
    expect(report).toMatchObject({ kills: ROUNDS, problems: [] })
    for (const count of Object.values(report.acknowledged)) expect(count).toBeGreaterThan(0)
  }, 120_000)
})
