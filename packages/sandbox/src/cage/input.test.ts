import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Box, RunInput, RunOutcome } from '../index.ts'
import { ROOMY, type Scratch, scratch, textOf } from '../testing/scratch.ts'

const BYTES = 3_000_000

let from: Scratch
let box: Box

beforeAll(async () => {
  from = await scratch()
  box = await (await from.open()).openBox({ kind: 'judge' })
})
afterAll(async () => {
  await box.close()
  await from[Symbol.asyncDispose]()
})

const withInput = (word: string, stdin: RunInput): Promise<RunOutcome> => box.run({ ...from.request('uses', [word]), stdin })

async function inputFile(mode: number): Promise<RunInput & { readonly kind: 'file' }> {
  const path = join(from.folder, `input-${mode.toString(8)}`)
  await writeFile(path, Buffer.alloc(BYTES, 'y'))
  await chmod(path, mode)
  return { kind: 'file', path }
}

test('empty input is at its end at once', async () => {
  expect(textOf(await withInput('counts-stdin', { kind: 'empty' }))).toBe('0\n')
})

test('bytes arrive in full, however many', async () => {
  expect(textOf(await withInput('counts-stdin', { kind: 'bytes', bytes: Buffer.alloc(BYTES) }))).toBe(`${BYTES}\n`)
})

test.each([0o644, 0o600])('a file arrives in full, whatever its mode (%i)', async (mode) => {
  expect(textOf(await withInput('counts-stdin', await inputFile(mode)))).toBe(`${BYTES}\n`)
})

test.each([0o644, 0o600])('a program may open its input again by name (mode %i)', async (mode) => {
  const outcome = await box.run({ argv: ['/bin/sh', '-c', 'wc -c < /dev/stdin'], limits: ROOMY, stdin: await inputFile(mode) })
  expect(textOf(outcome)).toBe(`${BYTES}\n`)
})

test.each([0o644, 0o600])('a program does not learn where its input comes from (mode %i)', async (mode) => {
  const outcome = await box.run({
    argv: ['/bin/sh', '-c', 'readlink /proc/self/fd/*; cat /proc/self/mountinfo'],
    limits: ROOMY,
    stdin: await inputFile(mode),
  })
  expect(textOf(outcome)).toMatch(/^pipe:/)
  expect(textOf(outcome)).not.toContain('input-')
})

test.each([0o644, 0o600, 0o666])('a program cannot write to the file behind its input (mode %i)', async (mode) => {
  const stdin = await inputFile(mode)
  // Through a pipe that is full, its own write waits for itself: the clock ends that.
  await box.run({
    argv: ['/bin/sh', '-c', 'echo no > /proc/self/fd/0; echo no 1<> /proc/self/fd/0'],
    limits: { ...ROOMY, wallMs: 300 },
    stdin,
  })
  expect((await readFile(stdin.path)).equals(Buffer.alloc(BYTES, 'y'))).toBe(true)
})

test.each(['ignores-stdin', 'closes-stdin'])('a program that %s is not at fault', async (word) => {
  expect(await withInput(word, { kind: 'bytes', bytes: Buffer.alloc(BYTES) })).toMatchObject({ status: 'ok', exitCode: 0 })
  expect(await withInput(word, await inputFile(0o600))).toMatchObject({ status: 'ok', exitCode: 0 })
})

test('an input that is a link or is not there is our failure, and says which', async () => {
  const missing = join(from.folder, 'missing')
  expect(await withInput('counts-stdin', { kind: 'file', path: missing })).toMatchObject({
    status: 'sandbox-error',
    message: `standard input ${missing}: No such file or directory`,
  })
})
