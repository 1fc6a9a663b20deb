import type { MountDecision } from '@parley/agent'
import { expect, test } from 'vitest'
import { ENGINE_CALLER, EngineCalls } from './engine-calls.ts'

const denied = (endsTurn: boolean): MountDecision => ({ kind: 'deny', reason: 'never', endsTurn })

test('fault 2: only a call of the engine that is denied for good ends the turn', () => {
  const calls = new EngineCalls()
  const ends: string[] = []
  calls.endTurn = (reason) => ends.push(reason)
  calls.decided({ caller: { key: 'Bearer other' } }, denied(true))
  calls.decided({ caller: ENGINE_CALLER }, denied(false))
  calls.decided({ caller: ENGINE_CALLER }, { kind: 'allow' })
  // A subscription that is taken up in its name.
  calls.decided({ caller: ENGINE_CALLER, unattended: true }, denied(true))
  expect(ends).toEqual([])
  calls.decided({ caller: ENGINE_CALLER }, denied(true))
  expect(ends).toEqual(['never'])
})
