import { describe, expect, it } from 'vitest'
import { registry } from '@parley/contracts'
import { liveChecks } from './fixture/live-checks.ts'

const all = registry.names.flatMap((name) => liveChecks(name).map((checks) => ({ name, ...checks })))

describe.each(all)('$name: parley app-server answers as $dialect', ({ checks }) => {
  it.each(checks)('$what', async ({ wrong }) => {
    expect(await wrong()).toEqual([])
  })
})
