import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { skipAloud } from '@parley/sandbox/testing'
import { expect, test } from 'vitest'
import { peerFor } from '../../../../../scripts/peers/peer-or-skip.ts'
import { openOauthServer } from '@parley/oauth/testing'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'
import { runHere } from '../../fixture/run-here.ts'

const run = promisify(execFile)

async function bench() {
  const scratch = new Scratch()
  mkdirSync(scratch.data, { mode: 0o700 })
  const file = join(scratch.data, 'config.toml')
  const line = (args: readonly string[]) => {
    const end = args.indexOf('--')
    const at = end < 0 ? args.length : end
    return ['mcp', ...args.slice(0, at), '--data', scratch.data, ...args.slice(at)]
  }
  const mcp = (...args: string[]) => runHere(line(args), { cwd: scratch.folder })
  return {
    scratch,
    file,
    mcp,
    line,
    text: () => readFileSync(file, 'utf8'),
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  }
}

test(
  'servers are added, listed, shown and removed; the file keeps what is not theirs, and no value is shown',
  MANY_PROCESSES,
  async () => {
    await using b = await bench()
    const own = '# my words\nmodel = "gpt-5" # kept\n\n[profiles.fast]\nunknown = true\n'
    writeFileSync(b.file, own)
    expect(
      await b.mcp('add', 'tool', '--env', 'KEY=very-secret', '--env', 'A=b=c', '--', 'node', 'x.js', '--flag'),
    ).toMatchObject({ code: 0 })
    expect(await b.mcp('add', 'seed', '--command', `node "a b.js"`)).toMatchObject({ code: 0 })
    expect(await b.mcp('add', 'far', '--environment', 'box', '--', 'node')).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^warning: there is no environment box in .*environments\.toml yet/),
    })
    expect((await b.mcp('list')).out).toMatch(/Auth +Environment\nfar .* box\n/)
    expect((await b.mcp('get', 'far')).out).toContain('environment_id: box')
    expect(b.text()).toContain('command = "node"\nenvironment_id = "box"')
    expect(await b.mcp('remove', 'far')).toMatchObject({ code: 0 })
    const again = await b.mcp('add', 'tool', '--', 'other')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('--force') })
    expect(b.text().startsWith(own)).toBe(true)
    expect(b.text()).toContain('command = "node"\nargs = ["x.js", "--flag"]')
    const listed = await b.mcp('list')
    expect(listed.out).toMatch(
      /^Name +Command +Args +Env +Cwd +Status +Auth\nseed +node +a b\.js .*\ntool +node +x\.js --flag +A=\*{5}, KEY=\*{5} +- +enabled +Unsupported\n$/,
    )
    const shown = await b.mcp('get', 'tool', '--json')
    expect(JSON.parse(shown.out)).toMatchObject({ name: 'tool', transport: { type: 'stdio', env: { KEY: '*****' }, cwd: null } })
    for (const { out, err } of [listed, shown, again]) expect(`${out}${err}`).not.toContain('very-secret')
    expect(await b.mcp('get', 'nobody')).toMatchObject({ code: 1, err: expect.stringContaining("no MCP server named 'nobody'") })
    expect((await b.mcp('remove', 'tool')).out).toBe("Removed MCP server 'tool'.\n")
    expect(await b.mcp('remove', 'tool')).toMatchObject({ code: 0, out: "No MCP server named 'tool' found.\n" })
    expect((await b.mcp('remove', 'seed')).code).toBe(0)
    expect(b.text()).toBe(own)
  },
)

test('four that add at once all find their place', MANY_PROCESSES, async () => {
  await using b = await bench()
  const added = await Promise.all(Array.from({ length: 4 }, (_, index) => b.scratch.run(b.line(['add', `s${index}`, '--', 'x']))))
  expect(added.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 0))
  expect(b.text().match(/^\[mcp_servers\.s\d\]$/gm)).toHaveLength(4)
  expect(statSync(b.file).mode & 0o077).toBe(0)
})

test.for([
  [['add', 'bad name', '--', 'x'], 'cannot be the name'],
  [['add', 'x'], 'either --url or a command'],
  [['add', 'x', '--url', 'https://y', '--environment', 'box'], '--environment goes with a command'],
  [['add', 'x', '--url', 'ftp://y'], 'http or https'],
  [['add', 'x', '--url', 'https://me:pw@y/mcp'], 'no user and password'],
  [['add', 'x', '--url', 'https://y/mcp', '--bearer-token-env-var', 'sk-1 2'], 'name of a variable'],
  [['add', 'x', '--env', 'novalue', '--', 'y'], 'KEY=VALUE'],
] as const)('%j is a usage error and writes nothing', async ([args, words]) => {
  await using b = await bench()
  expect(await b.mcp(...args)).toMatchObject({ code: 2, err: expect.stringContaining(words), out: '' })
  expect(() => b.text()).toThrow('ENOENT')
})

test(
  'a server that wants a sign-in says so when it is added; login keeps the token for the user alone, logout forgets it',
  MANY_PROCESSES,
  async () => {
    await using b = await bench()
    await using server = await openOauthServer()
    expect((await b.mcp('add', 'web', '--url', server.url)).out).toContain('parley mcp login web')
    expect((await b.mcp('list')).out).toMatch(/^web +http:\S+ +- +enabled +Not logged in$/m)
    const browser = join(b.scratch.folder, 'browser.mjs')
    writeFileSync(browser, `#!${process.execPath}\nawait (await fetch(process.argv[2])).text()\n`)
    chmodSync(browser, 0o755)
    const login = await runHere(b.line(['login', 'web']), { cwd: b.scratch.folder, env: { BROWSER: browser } })
    expect(login).toMatchObject({
      code: 0,
      out: "Signed in at 'web'.\n",
      err: expect.stringContaining(`${server.origin}/authorize?`),
    })
    const tokens = join(b.scratch.data, 'mcp-tokens.json')
    expect(statSync(tokens).mode & 0o777).toBe(0o600)
    const kept = JSON.parse(readFileSync(tokens, 'utf8')).servers.web
    expect(server.granted.has(kept.access_token)).toBe(true)
    expect(JSON.parse((await b.mcp('list', '--json')).out)).toMatchObject([{ name: 'web', auth_status: 'o_auth' }])
    expect((await b.mcp('logout', 'web')).out).toBe("Signed out of 'web'.\n")
    expect(readFileSync(tokens, 'utf8')).not.toContain(kept.access_token)
  },
)

test('on a terminal the sign-in is offered, and done at once', MANY_PROCESSES, async (context) => {
  if (!hasTerminals()) skipAloud(context, 'the offer to sign in on a terminal', 'script of util-linux is missing')
  await using b = await bench()
  await using server = await openOauthServer()
  const browser = join(b.scratch.folder, 'browser.mjs')
  writeFileSync(browser, `#!${process.execPath}\nawait (await fetch(process.argv[2])).text()\n`)
  chmodSync(browser, 0o755)
  const add = (name: string, typed: string) =>
    onTerminal(b.scratch, b.line(['add', name, '--url', server.url]), {
      columns: 100,
      rows: 30,
      typed,
      env: { BROWSER: browser },
    })
  const [yes, no] = await Promise.all([add('now', '\n'), add('later', 'n\n')])
  expect(yes).toMatchObject({ code: 0, out: expect.stringMatching(/Sign in now\? \[Y\/n\][^]*Signed in at 'now'/) })
  expect(no).toMatchObject({ code: 0, out: expect.stringMatching(/Sign in now\? \[Y\/n\][^]*parley mcp login later/) })
  const kept = JSON.parse(readFileSync(join(b.scratch.data, 'mcp-tokens.json'), 'utf8')).servers
  expect(Object.keys(kept)).toEqual(['now'])
})

test("Codex's own servers are taken over, ours are given to it, and it reads what we wrote", MANY_PROCESSES, async (context) => {
  const codex = (await peerFor(context, 'codex-0.166')).bin('codex')
  await using b = await bench()
  const home = join(b.scratch.folder, 'codex')
  mkdirSync(home)
  const real = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, CODEX_HOME: home }
    return (await run(process.execPath, [codex, 'mcp', ...args], { env })).stdout
  }
  await real('add', 'p', '--env', 'K=v', '--', 'parley', 'mcp-server')
  await real('add', 'w', '--url', 'http://127.0.0.1:9/mcp', '--bearer-token-env-var', 'TOKEN')
  const codexFile = join(home, 'config.toml')
  expect((await b.mcp('import', '--from', codexFile)).out).toContain('Taken over: p, w')
  expect(b.text()).toBe(readFileSync(codexFile, 'utf8'))
  const unmask = (text: string) => JSON.parse(text.replaceAll('"v"', '"*****"'))
  expect(JSON.parse((await b.mcp('list', '--json')).out)).toEqual(unmask(await real('list', '--json')))
  expect(JSON.parse((await b.mcp('get', 'p', '--json')).out)).toEqual(unmask(await real('get', 'p', '--json')))
  await b.mcp('add', 'mine', '--', 'x', '--y')
  expect((await b.mcp('export', '--to', codexFile)).out).toMatch(/Taken over: mine[^]*Left as they are: p, w/)
  expect(await real('list')).toMatch(/^mine +x +--y /m)
})
