import { describe } from 'vitest'
import { actContract } from './act-contract.ts'
import { approvalContract } from './approval-contract.ts'
import type { ContractHarness } from './harness.ts'
import { interruptContract } from './interrupt-contract.ts'
import { lifetimeContract } from './lifetime-contract.ts'
import { turnContract } from './turn-contract.ts'

/** What every engine must do, in terms of the port alone. */
export function engineContract(name: string, harness: ContractHarness): void {
  describe(`${name} keeps the engine contract`, () => {
    turnContract(harness)
    actContract(harness)
    approvalContract(harness)
    interruptContract(harness)
    lifetimeContract(harness)
  })
}
