import { MountSettings } from '@parley/protocol'
import { expect, test } from 'vitest'
import { triedCallWarnings } from './tried-call-warnings.ts'

const options = MountSettings.parse({ renames: [{ from: 'mv', to: 'move' }], deny: ['rm'] })
const mounts = [
  { name: 'files', options },
  { name: 'docs', options: MountSettings.parse({ allow: ['search'] }) },
]
const meant = (name: string) => ({ mount: 'files', name })

test.each([
  [{ kind: 'tool', mount: 'files', name: 'read_file' }, []],
  [{ kind: 'tool', mount: 'docs', name: 'search' }, []],
  [{ kind: 'tool', mount: null, name: 'shell' }, []],
  [{ kind: 'command', mount: null, name: 'files_x' }, []],
  [{ kind: 'resource', mount: null, name: 'files_x' }, []],
  [{ kind: 'tool', mount: null, name: 'files_read_file' }, [{ code: 'no_mount', meant: meant('read_file') }]],
  [{ kind: 'tool', mount: null, name: 'files_move' }, [{ code: 'no_mount', meant: meant('mv') }]],
  [{ kind: 'tool', mount: 'files', name: 'move' }, [{ code: 'renamed', meant: meant('mv') }]],
  [{ kind: 'tool', mount: 'files', name: 'rm' }, [{ code: 'not_shown', meant: null }]],
  [{ kind: 'tool', mount: 'docs', name: 'write' }, [{ code: 'not_shown', meant: null }]],
  [{ kind: 'resource', mount: 'nosuch', name: 'a:b' }, [{ code: 'no_such_mount', meant: null }]],
] as const)('%j is warned of by %j', (call, warnings) => {
  expect(triedCallWarnings(call, 'mine', mounts)).toMatchObject(warnings)
})

test('which mounts there are is named', () => {
  const call = { kind: 'tool', mount: 'nosuch', name: 'zz' } as const
  const [warning] = triedCallWarnings(call, 'mine', mounts)
  expect(warning?.message).toBe('nothing is mounted as nosuch for mine; there are: files, docs')
  expect(triedCallWarnings(call, 'mine', [])[0]?.message).toBe('nothing is mounted as nosuch for mine; it has no mounts')
})
