import { describe, expect, it } from 'vitest'
import { type ContractName, registry, scenariosOf } from '@parley/contracts'
import { APP_DIALECTS, type AppDialect } from '../app/app-server-options.ts'
import { METHODS } from '../app/methods.ts'
import { PLAYED, playAll } from './fixture/live-answers.ts'
import { isServed, liveFaults } from './fixture/live-checks.ts'

/** A step that waits for what cannot come is given up soon. */
const STEP_MS = 250

const served = (dialect: AppDialect) =>
  registry.names.filter((name) => registry.observed(name, `${dialect}.0`).kind === 'request' && isServed(name, dialect))

describe.each(APP_DIALECTS)('parley app-server as %s', (dialect) => {
  it('without any one of its handlers fails the contract test of that one', async () => {
    const noticed = await Promise.all(
      served(dialect).map(async (name) => ({ name, fails: (await faultsWithout(name, dialect)) > 0 })),
    )
    expect(noticed.length).toBeGreaterThan(20)
    expect(noticed.filter(({ fails }) => !fails)).toEqual([])
  })
})

async function faultsWithout(name: ContractName, dialect: AppDialect): Promise<number> {
  const { [name]: _, ...methods } = METHODS
  // Of those alone in which the method is seen to work while its handler is there.
  const seen = scenariosOf(`${dialect}.0`).filter(({ name: scenario }) => PLAYED.test(scenario))
  const asking = seen.filter(({ steps }) => steps.some((step) => asks(step, name)))
  const [shortest] = asking.toSorted((one, other) => one.steps.length - other.steps.length)
  const played = new RegExp(`^${shortest?.name ?? ''}$`)
  return liveFaults(await playAll(dialect, { methods, played, stepMs: STEP_MS, hasRepository: false }), name, dialect).length
}

const asks = (step: object, name: string): boolean => 'ask' in step && step.ask === name
