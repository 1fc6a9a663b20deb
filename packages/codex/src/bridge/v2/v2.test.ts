import { expect, test } from 'vitest'
import { currentDialect } from './index.ts'
import { overTheBridge } from './fixture/over-the-bridge.ts'

await overTheBridge('codex-0.166')

test('Codex is started as what its dialect needs', () => {
  expect(currentDialect).toMatchObject({ name: 'v2', args: ['app-server'], jsonrpc: false })
})
