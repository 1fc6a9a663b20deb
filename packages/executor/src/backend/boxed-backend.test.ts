import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSandbox } from '@parley/sandbox'
import { execProcessContract } from '../process/fixture/exec-process-contract.ts'
import { boxedBackend } from './boxed-backend.ts'

test('a program that its box cannot run is a failure with words, and no exit code', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-boxed-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const box = await openBoxed()
  onTestFinished(() => box[Symbol.asyncDispose]())
  const program = join(folder, 'program')
  await writeFile(program, 'no program of any kind', { mode: 0o700 })
  const spec = { env: {}, tty: false, pipeStdin: true } as const
  const process = await box.backend.start({ ...spec, processId: 'one', argv: [program], cwd: folder })
  await process.ended
  expect(await process.read({})).toMatchObject({ exitCode: null, closed: false, failure: expect.stringContaining(program) })
  await expect(box.backend.start({ ...spec, processId: 'two', argv: [program], cwd: '/usr' })).rejects.toThrow(
    `cannot run ${program}: the box does not show ${program}; [sandbox] read = ["${folder}"] where it runs`,
  )
})

const differences = { killsAtOnce: true, noSignals: true, groupEndsWithLeader: true, ownPids: true } as const

execProcessContract('in a box', openBoxed, differences)

async function openBoxed() {
  const runFolder = await mkdtemp(join(tmpdir(), 'parley-exec-'))
  const cacheFolder = join(tmpdir(), `parley-test-cage-${process.getuid?.() ?? 'user'}`)
  const { start } = await openSandbox({ driver: 'cage', cacheFolder, runFolder })
  if (start === undefined) throw new Error('this sandbox has no live programs')
  return {
    backend: boxedBackend({ start, profile: { writable: true } }),
    [Symbol.asyncDispose]: () => rm(runFolder, { recursive: true, force: true }),
  }
}
