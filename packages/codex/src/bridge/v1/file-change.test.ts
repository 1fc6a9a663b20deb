import { expect, test } from 'vitest'
import { fileChanges } from './file-change.ts'

test('the text of a file is a diff in either spelling, and a last line without an end stays one', () => {
  const changes = { '/a': { add: { content: 'x\ny' } }, '/b': { type: 'delete', content: 'z\n' }, '/c': { add: { content: '' } } }
  expect(fileChanges(changes)).toEqual([
    { path: '/a', kind: 'add', diff: '@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n' },
    { path: '/b', kind: 'delete', diff: '@@ -1 +0,0 @@\n-z\n' },
    { path: '/c', kind: 'add', diff: '' },
  ])
})
