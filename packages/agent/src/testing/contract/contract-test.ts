import { test } from 'vitest'
import type { ContractHarness } from './harness.ts'

type ContractTest = (title: string, run: () => Promise<void>) => void

/** `test`, but for what the harness says its engine does otherwise: that is skipped, and its title says why. */
export function contractTest({ differs = {} }: ContractHarness): ContractTest {
  return (title, run) => {
    const reason = Object.entries(differs).find(([fragment]) => title.includes(fragment))?.[1]
    const note = reason === undefined ? '' : ` (differs: ${reason})`
    test.skipIf(reason !== undefined)(`${title}${note}`, run)
  }
}
