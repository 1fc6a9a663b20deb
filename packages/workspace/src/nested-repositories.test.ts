import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bench, openBench } from './fixture/open-bench.ts'
import { nestedRepositories } from './nested-repositories.ts'
import { openSandboxCommands } from './sandbox-commands.ts'

let bench: Bench
let folder: string
beforeAll(async () => {
  bench = await openBench()
  folder = mkdtempSync(join(tmpdir(), 'parley-nested-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await bench[Symbol.asyncDispose]()
})

test('repositories below a folder are found, also bare ones and those whose .git is a file', async () => {
  const place = join(folder, 'several')
  for (const path of ['.git/objects', 'one/.git', 'two', 'bare/objects', 'bare/refs', 'plain'])
    mkdirSync(join(place, path), { recursive: true })
  writeFileSync(join(place, 'two/.git'), 'gitdir: /x\n')
  writeFileSync(join(place, 'bare/HEAD'), '')
  mkdirSync(join(place, 'shares'))
  for (const name of ['HEAD', 'commondir']) writeFileSync(join(place, 'shares', name), '')
  const { found, unseen, isCut } = await nestedRepositories(place)
  expect(found.toSorted()).toEqual(['bare', 'one', 'shares', 'two'].map((name) => join(place, name)))
  expect({ unseen, isCut }).toEqual({ unseen: [], isCut: false })
})

test('a folder that cannot be listed is told of, and so is that there are more than were looked at', async () => {
  const place = mkdtempSync(join(tmpdir(), 'parley-unseen-'))
  try {
    // Too deep for a path: nobody can list it by one, root neither, and whoever steps down reaches it.
    const step = 'x'.repeat(200)
    const half = Array.from({ length: 12 }, () => step).join('/')
    mkdirSync(join(place, half), { recursive: true })
    mkdirSync(join(place, 'below', half, '.git'), { recursive: true })
    renameSync(join(place, 'below'), join(place, half, 'below'))
    expect(await nestedRepositories(place)).toEqual({ found: [], unseen: [expect.stringContaining(step)], isCut: false })
    const locked = join(place, 'locked')
    mkdirSync(join(locked, '.git'), { recursive: true })
    chmodSync(locked, 0o311)
    const { found, unseen } = await nestedRepositories(place)
    // Root lists it all the same.
    expect([...found, ...unseen]).toContain(locked)
    for (let index = 0; index < 20; index += 1) mkdirSync(join(place, `r${index}/.git`), { recursive: true })
    expect(await nestedRepositories(place)).toMatchObject({ isCut: true })
  } finally {
    execFileSync('chmod', ['-R', 'u+rwX', place])
    execFileSync('rm', ['-rf', place])
  }
})

test('a command that leaves one is told of, once', async () => {
  const told: string[] = []
  const commands = openSandboxCommands({
    sandbox: bench.sandbox,
    folder,
    hidden: [],
    network: false,
    warn: (message) => told.push(message),
  })
  const run = () =>
    commands.run(
      {
        argv: ['git', 'init', '-q', 'made'],
        folder,
        timeoutMs: 20_000,
        reach: 'workspace-write',
        network: false,
        outputBytes: 1_000,
      },
      () => undefined,
      new AbortController().signal,
    )
  expect(await run()).toMatchObject({ exitCode: 0 })
  await run()
  await commands.close()
  expect(told.filter((message) => message.startsWith(join(folder, 'made')))).toEqual([
    `${join(folder, 'made')} is a repository inside the working folder: git runs programs that its settings name`,
  ])
})
