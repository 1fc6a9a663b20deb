import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { presetsIn } from '@parley/gateway'
import { parse } from 'smol-toml'
import { expect, onTestFinished, test } from 'vitest'

const EXAMPLE = `
description = "Looks after a repository"
instructions = "Be brief."
[[mounts]]
name = "files"
[mounts.server]
kind = "stdio"
command = "files-server"
env = [{ name = "TOKEN", value = "t" }]
[mounts.options]
call_timeout_ms = 5000
`

test('presets are the files of a folder as they are now; one that is wrong says so by its name and breaks no other', async () => {
  const presets = mkdtempSync(join(tmpdir(), 'parley-presets-'))
  onTestFinished(() => rmSync(presets, { recursive: true }))
  const read = presetsIn(presets, parse)
  expect([...(await read()).keys()]).toEqual(['default'])
  const write = (name: string, text: string): void => writeFileSync(join(presets, name), text)
  write('repo.toml', EXAMPLE)
  write('broken.toml', 'instructions = ')
  write('strange.toml', 'instrucions = "x"\n')
  write('mount.toml', '[[mounts]]\nname = "A"\nserver = { kind = "stdio", command = "x" }\n')
  write('large.toml', `# ${'x'.repeat(600 * 1024)}\n`)
  write('Not-A-Name.toml', '')
  write('default.toml', 'instructions = "Ours."\n')
  mkdirSync(join(presets, 'folder.toml'))
  const found = await read()
  expect(found.get('repo')).toMatchObject({
    instructions: 'Be brief.',
    mounts: [
      {
        name: 'files',
        server: { kind: 'stdio', command: 'files-server', args: [], place: { kind: 'boxed' }, network: false },
        options: { call_timeout_ms: 5_000, plain: false },
      },
    ],
  })
  expect(found.get('default')).toMatchObject({ instructions: 'Ours.', mounts: [] })
  const said = [...found].flatMap(([name, preset]) => (preset instanceof Error ? [`${name}: ${preset.message}`] : []))
  expect(said).toEqual([
    expect.stringMatching(/^broken: presets\/broken\.toml: \S/),
    'folder: presets/folder.toml: is not a file',
    'large: presets/large.toml: has more than 524288 bytes',
    expect.stringMatching(/^mount: presets\/mount\.toml: mounts\.0\.name must have 1 to 32 small letters/),
    expect.stringMatching(/^strange: presets\/strange\.toml: .*instrucions/),
  ])
  expect(found.has('Not-A-Name')).toBe(false)
})
