import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LazyProcesses } from '@parley/executor'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSandbox } from '@parley/sandbox'
import { toolchainsOf } from '../installed/toolchains.ts'
import { openBoxedGit } from './boxed-git.ts'
import { openCommands } from './folder-commands.ts'
import { ServerWorld } from './fixture/server-world.ts'

let world: ServerWorld
let sandboxes: string
beforeAll(async () => {
  world = await ServerWorld.open()
  sandboxes = join(world.home, 'sandboxes')
})
afterAll(() => world[Symbol.asyncDispose]())

const NOTHING_OWN = { folders: [], files: [] }
const never = new AbortController().signal
const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe', encoding: 'utf8' })

/** A clone whose settings name a program for everything that git may start by itself. */
function hostileClone(name: string, marker: string): string {
  const remote = join(world.home, `${name}-remote`)
  mkdirSync(remote)
  git(remote, 'init', '-q')
  writeFileSync(join(remote, 'file'), 'one\n')
  git(remote, 'add', '.')
  git(remote, 'commit', '-qm', 'one')
  git(world.home, 'clone', '-q', remote, name)
  const clone = join(world.home, name)
  const evil = `touch ${marker}; cat`
  writeFileSync(join(clone, '.gitattributes'), 'file filter=evil diff=evil\n')
  writeFileSync(
    join(clone, '.git/evil'),
    `[filter "evil"]\n\tclean = ${JSON.stringify(evil)}\n\trequired = true\n[diff "evil"]\n\ttextconv = ${JSON.stringify(evil)}\n\tcommand = ${JSON.stringify(evil)}\n[core]\n\tfsmonitor = ${JSON.stringify(evil)}\n\tpager = ${JSON.stringify(evil)}\n`,
  )
  git(clone, 'config', 'include.path', 'evil')
  writeFileSync(join(clone, 'file'), 'two\n')
  return clone
}

test('a diff of a hostile repository runs nothing that it names', async () => {
  const marker = join(world.home, 'marker-diff')
  const clone = hostileClone('clone', marker)
  await using client = world.start(['app-server', '--engine', 'mini'], world.ownEnv)
  await client.ask('initialize', { clientInfo: { name: 'test', title: 'Test', version: '1' } })
  client.send({ method: 'initialized' })
  expect(await client.ask('gitDiffToRemote', { cwd: clone })).toMatchObject({ result: { diff: expect.stringContaining('+two') } })
  expect(existsSync(marker)).toBe(false)
})

test('what git would run of a repository runs in the box, where nothing is written and nothing else is seen', async () => {
  const marker = join(world.home, 'marker-box')
  const clone = hostileClone('boxed', marker)
  const elsewhere = join(world.home, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'secret'), 'secret')
  const sandbox = () => openSandbox({ driver: 'cage', cacheFolder: join(sandboxes, 'cache'), runFolder: join(sandboxes, 'run') })
  const place = await openBoxedGit({ sandbox, hidden: [], toolchains: toolchainsOf([], {}, []) })(clone)
  const more = { folder: clone, timeoutMs: 20_000, outputBytes: 100_000 }
  await place.run(['git', '-c', 'safe.directory=*', 'diff'], more)
  const looked = await place.run(
    ['sh', '-c', `ls ${world.home}/data ${elsewhere} /var/lib/dpkg; touch ${clone}/x ${clone}/.git/x; env | grep -c API_KEY`],
    more,
  )
  await place.close()
  expect(looked).toMatchObject({ kind: 'ended', stdout: '0\n' })
  expect([marker, join(clone, 'x'), join(clone, '.git/x')].filter((path) => existsSync(path))).toEqual([])
})

test('where no sandbox holds a working folder, commands are refused with words, and git is not run', async () => {
  const sandbox = () =>
    openSandbox({ driver: 'cage', tier: 'landlock', cacheFolder: join(sandboxes, 'cache'), runFolder: join(sandboxes, 'weak') })
  const toolchains = toolchainsOf([], {}, [])
  const processes = new LazyProcesses(1)
  const commands = openCommands({ processes, env: {}, sandbox, own: NOTHING_OWN, toolchains, warn: () => undefined })(
    world.workspace,
  )
  const request = {
    argv: ['touch', 'made'],
    folder: world.workspace,
    timeoutMs: 10_000,
    reach: 'workspace-write',
    network: false,
    outputBytes: 100,
  } as const
  expect(await commands.run(request, () => undefined, never)).toMatchObject({
    exitCode: null,
    message: expect.stringMatching(/no command is run: the landlock tier grants whole folders/),
  })
  await commands.close()
  expect(existsSync(join(world.workspace, 'made'))).toBe(false)
})

test('a program that is not shown is named with the setting that shows it, and with that it runs', async () => {
  const bin = join(world.home, 'kit', 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'kit-tool'), '#!/bin/sh\necho kit\n', { mode: 0o755 })
  const env = { PATH: `${bin}:/usr/bin:/bin` }
  const opening = openSandbox({ driver: 'cage', cacheFolder: join(sandboxes, 'cache'), runFolder: join(sandboxes, 'run') })
  const ran = async (read: readonly string[]) => {
    const ports = { processes: new LazyProcesses(1), env, sandbox: () => opening, own: NOTHING_OWN, warn: () => undefined }
    const commands = openCommands({ ...ports, toolchains: toolchainsOf(read, env, []) })(world.workspace)
    const argv = ['bash', '-lc', 'kit-tool']
    const outcome = await commands.run(
      { argv, folder: world.workspace, timeoutMs: 20_000, reach: 'workspace-write', network: false, outputBytes: 1_000 },
      () => undefined,
      never,
    )
    await commands.close()
    return { out: Buffer.from(outcome.stdout).toString(), message: outcome.message }
  }
  const shows = `${bin}/kit-tool is not shown in the sandbox; [sandbox] read = ["${join(world.home, 'kit')}"] in your settings shows it`
  expect(await ran([])).toEqual({ out: '', message: shows })
  expect(await ran([join(world.home, 'kit')])).toEqual({ out: 'kit\n', message: null })
})

test.each([
  ['/', /whole machine/],
  ['/no/such/folder', /is not there/],
])('%s cannot be shown', (path, why) => {
  expect(() => toolchainsOf([path], {}, [])).toThrow(why)
})

test('neither a folder that holds what is hidden can be shown nor one in it', () => {
  const data = join(world.home, 'data')
  mkdirSync(join(data, 'below'), { recursive: true })
  for (const path of [world.home, data, join(data, 'below'), '~'])
    expect(() => toolchainsOf([path], { HOME: world.home }, [data])).toThrow(/no program in the sandbox may see/)
})
