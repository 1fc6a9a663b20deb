import { expect, test } from 'vitest'
import { sandboxParams, sandboxTag } from './sandbox-params.ts'

test.for([
  ['0.42.0', 'mode'],
  ['0.58.0', 'mode'],
  ['0.58.1', 'mode'],
  ['0.59.0-alpha.1', 'type'],
  ['0.59.0', 'type'],
  ['0.107.0', 'type'],
  ['unknown', 'type'],
] as const)('Codex %s calls the mode of a sandbox policy %s', ([version, tag]) => {
  expect(sandboxTag(version)).toBe(tag)
})

test('a policy is told whole, and what does not belong to its mode is left out', () => {
  const policy = { networkAccess: true, writableRoots: ['/w'] } as const
  expect(sandboxParams({ mode: 'read-only', ...policy }, 'type')).toEqual({ type: 'read-only' })
  expect(sandboxParams({ mode: 'workspace-write', ...policy }, 'mode')).toEqual({
    mode: 'workspace-write',
    writable_roots: ['/w'],
    network_access: true,
    exclude_tmpdir_env_var: false,
    exclude_slash_tmp: false,
  })
})
