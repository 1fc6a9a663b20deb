import { expect, test } from 'vitest'
import { v2Dialect } from './index.ts'
import { overTheBridge } from './fixture/over-the-bridge.ts'

await overTheBridge('codex-0.166')

test('Codex is started as what its dialect needs', () => {
  expect(v2Dialect).toMatchObject({ name: 'v2', args: ['app-server'], jsonrpc: false })
})
