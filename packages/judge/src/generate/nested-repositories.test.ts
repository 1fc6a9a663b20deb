import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
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
  for (const path of ['.git/objects', 'one/.git', 'two', 'bare/objects', 'bare/refs', 'plain'])
    mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'two/.git'), 'gitdir: /x\n')
  writeFileSync(join(folder, 'bare/HEAD'), '')
  expect((await nestedRepositories(folder)).sort()).toEqual(['bare', 'one', 'two'].map((name) => join(folder, name)))
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
