import { expect, test } from 'vitest'
import { TurnOverrides } from './orders.ts'

const input = [{ type: 'text', text: 'go' }] as const
const loose = { input, approvalPolicy: 'never' } as const
const OPENED = { cwd: '/w', approvalPolicy: 'untrusted', sandbox: { type: 'readOnly' }, model: 'm' }

test('what a turn set is put back with the next one that Codex takes, also when it refuses one before', () => {
  const overrides = new TurnOverrides(OPENED)
  expect(overrides.next(loose)).toEqual({ approvalPolicy: 'never' })
  overrides.taken(loose)
  expect(overrides.next({ input })).toEqual({ approvalPolicy: 'untrusted' })
  // That one was refused.
  expect(overrides.next({ input })).toEqual({ approvalPolicy: 'untrusted' })
  overrides.taken({ input })
  expect(overrides.next({ input })).toEqual({})
})

test('a Codex that does not say when it asks is made to', () => {
  const overrides = new TurnOverrides({ ...OPENED, approvalPolicy: null })
  overrides.taken(loose)
  expect(overrides.next({ input })).toEqual({ approvalPolicy: 'untrusted' })
})
