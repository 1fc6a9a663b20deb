import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../fixture/parley.ts'
import { toolPlacesOf } from '../installed/tool-places.ts'

const NAMES: Readonly<Record<string, string>> = { cpp: 'c++' }

test('doctor names the languages that a judge offers, tools on PATH among them', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  chmodSync(scratch.folder, 0o755)
  const bin = join(scratch.folder, 'bin')
  mkdirSync(bin)
  // Both look for this one last, so that a real one of this machine comes first for both.
  writeFileSync(join(bin, 'go'), '#!/bin/sh\necho go version of a test\n')
  chmodSync(join(bin, 'go'), 0o755)
  const setting = { env: { PATH: `${process.env['PATH']}:${bin}` } }
  await using gateway = await LocalGateway.open(scratch.data)
  const judge = await scratch.start(
    ['judge', '--url', gateway.ws, '--token', gateway.token, '--data', 'judge', '--json'],
    setting,
  )
  const { checks } = await scratch.json(['doctor', '--port', '0', '--data', scratch.data], setting)
  const offered: { language: string; version: string }[] = judge.ready.languages
  expect(offered.map(({ language }) => language)).toContain('go')
  for (const name of ['c', 'cpp', 'python', 'javascript', 'java', 'rust', 'go']) {
    const known = offered.find(({ language }) => language === name)
    const check = checks.find((one: { name: string }) => one.name === (NAMES[name] ?? name))
    expect({ name, status: check.status }).toEqual({ name, status: known === undefined ? 'missing' : 'ok' })
    if (known !== undefined) expect(check.detail.startsWith(`${known.version}, /`)).toBe(true)
  }
})

test('tools are looked for in the folders of the system, then on PATH, and never relative to where one stands', () => {
  expect(toolPlacesOf({ PATH: '/opt/x/bin:.:/usr/bin::bin:/opt/x/bin', HOME: '/srv/me' })).toEqual({
    searchPath: ['/usr/local/bin', '/usr/bin', '/bin', '/opt/x/bin'],
    homeFolder: '/srv/me',
  })
  expect(toolPlacesOf({})).toEqual({ searchPath: ['/usr/local/bin', '/usr/bin', '/bin'] })
})
