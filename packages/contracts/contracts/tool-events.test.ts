import { describe, expect, it } from 'vitest'
import { toolCallFaults } from '../src/testing/checks.ts'

describe('codex/event of a call of the codex tool', () => {
  it.each(['0.42.0', '0.44.0', '0.153.4'] as const)('is as observed in %s', (version) => {
    expect(toolCallFaults(version)).toEqual([])
  })
})
