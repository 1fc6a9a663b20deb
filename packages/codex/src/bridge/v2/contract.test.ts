import { expect, test } from 'vitest'
import { V2_DIFFERS, v2Contract } from './fixture/v2-contract.ts'

await v2Contract('codex-0.166')

test('what Codex does otherwise is little', () => {
  expect(Object.keys(V2_DIFFERS)).toHaveLength(1)
})
