import { type Mount, ServerSpec } from '@parley/protocol'
import { expect, test } from 'vitest'
import { mountNotes, mountsText } from './mount-text.ts'

const notes = (more: object): readonly string[] => mountNotes(ServerSpec.parse({ kind: 'stdio', command: 'server', ...more }))
const as = (state: NonNullable<Mount['state']>['state']) => ({ state: { name: 'm', state, tools: 0, restarts: 0, error: null } })

test('whoever mounts what cannot work as it is typed is told at once', () => {
  expect(notes({})).toEqual([])
  expect(mountNotes(ServerSpec.parse({ kind: 'http', url: 'https://example.com/' }))).toEqual([])
  expect(notes({ command: 'npx' })).toEqual([expect.stringContaining('a box has no network')])
  expect(notes({ command: './x' })).toEqual([
    './x is looked for in the mount’s own folder, wherever you are: a whole path is safe',
  ])
  expect(notes({ command: 'bin/x', folder: '/srv' })).toEqual([
    'bin/x is looked for in /srv, wherever you are: a whole path is safe',
    'the host must have been started with a --root that holds /srv, as by parley up --root /srv',
  ])
  expect(notes({ folder: '/srv', place: { kind: 'executor', executor: 'box' } })).toEqual([])
})

test('mounts that do not work are counted, with where they say why', () => {
  expect(mountsText('mine', [as('active'), { state: null }])).toBe('2')
  expect(mountsText('mine', [as('active'), as('failed'), as('restarting')])).toBe('3, 2 failed: parley mount list mine says why')
})
