import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { knownHome, knownShell } from './known-home.ts'

test('there is a home and a shell', () => {
  expect(knownHome()).toMatch(/^\//)
  expect(knownShell()).toMatch(/^\//)
})

/** No file of users has it. */
const NOBODY = 987_654

test.runIf(process.getuid?.() === 0)('a user that is a number and nothing else has the plainest of both', () => {
  const module = fileURLToPath(new URL('known-home.ts', import.meta.url))
  const code = `const { knownHome, knownShell } = await import('data:text/javascript,' + encodeURIComponent(process.argv[1]))
    console.log(JSON.stringify([knownHome(), knownShell()]))`
  const source = stripped(module)
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code, source], {
    uid: NOBODY,
    gid: NOBODY,
    env: {},
    cwd: '/',
    encoding: 'utf8',
  })
  expect(JSON.parse(said)).toEqual(['/', '/bin/sh'])
})

/** The module as JavaScript, by value: that user may not read our folder. */
function stripped(path: string): string {
  return execFileSync(
    process.execPath,
    ['-p', `require('node:module').stripTypeScriptTypes(require('node:fs').readFileSync(process.argv[1], 'utf8'))`, path],
    { encoding: 'utf8' },
  )
}
