import { chmod, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Box, RunOutcome } from '../index.ts'
import { shell, type Scratch, scratch, textOf } from '../testing/scratch.ts'

const LARGE_BYTES = 600_000

let from: Scratch
let box: Box
let out: string
let count = 0

beforeAll(async () => {
  from = await scratch()
  box = await (await from.open()).openBox({ kind: 'judge' })
})
afterAll(async () => {
  await box.close()
  await from[Symbol.asyncDispose]()
})
beforeEach(async () => {
  count += 1
  out = join(from.folder, `out-${count}`)
  await mkdir(out)
})

const keeping = (command: string, name: string, limitBytes = 1000): Promise<RunOutcome> =>
  box.run({ ...shell(command), keep: [{ name, to: join(out, 'kept'), limitBytes }] })

test('files are put where they are named, from bytes and from paths, small and large', async () => {
  const large = join(from.folder, 'large')
  await writeFile(large, Buffer.alloc(LARGE_BYTES, 'l'))
  const outcome = await box.run({
    ...shell('cat a/b/small; wc -c < large; wc -c < hidden; stat -c %a a/b/small; cat runs; ./runs'),
    files: [
      { name: 'a/b/small', from: { bytes: Buffer.from('small\n') } },
      { name: 'large', from: { path: large } },
      { name: 'hidden', from: { path: await privateFile(LARGE_BYTES) } },
      { name: 'runs', from: { bytes: Buffer.from('#!/bin/sh\necho ran\n') }, executable: true },
    ],
  })
  expect(Buffer.from(outcome.stderr.bytes).toString()).toBe('')
  expect(textOf(outcome)).toBe(`small\n${LARGE_BYTES}\n${LARGE_BYTES}\n444\n#!/bin/sh\necho ran\nran\n`)
})

test.each([1000, LARGE_BYTES])('the original of a file of %i bytes is never written to', async (bytes) => {
  const original = join(out, 'original')
  await writeFile(original, Buffer.alloc(bytes, 'o'))
  await chmod(original, 0o777)
  const outcome = await box.run({
    ...shell('chmod 777 f; echo no > f; echo no >> f; rm -f f; echo done'),
    files: [{ name: 'f', from: { path: original }, executable: true }],
  })
  expect(textOf(outcome)).toContain('done')
  expect((await readFile(original)).equals(Buffer.alloc(bytes, 'o'))).toBe(true)
})

test('nothing of a run is there for the next', async () => {
  await box.run(shell('echo x > left; mkdir -p d/e; echo x > /tmp/left; touch /dev/shm/left'))
  expect(textOf(await box.run(shell('ls -A /box /tmp /dev/shm; pwd')))).toBe('/box:\n\n/dev/shm:\n\n/tmp:\n/box\n')
})

test('a kept file is taken out, and belongs to us', async () => {
  const outcome = await keeping('mkdir d; echo result > d/file; chmod 000 d/file', 'd/file')
  expect([outcome.kept, outcome.message]).toEqual([['d/file'], null])
  expect(await readFile(join(out, 'kept'), 'utf8')).toBe('result\n')
  expect((await stat(join(out, 'kept'))).uid).toBe(process.getuid?.())
  expect(await readdir(out)).toEqual(['kept'])
})

test('a kept program can be run', async () => {
  await keeping('cp /bin/true p', 'p', 1_000_000)
  expect((await stat(join(out, 'kept'))).mode & 0o777).toBe(0o755)
})

test.each([
  ['a link to a file of the host', 'ln -s /etc/passwd f', 'f was not kept: it is not a plain file'],
  ['a link to itself', 'ln -s f f', 'f was not kept: it is not a plain file'],
  ['a pipe', 'mkfifo f', 'f was not kept: it is not a plain file'],
  ['a folder', 'mkdir f', 'f was not kept: it is not a plain file'],
  ['a device by link', 'ln -s /dev/zero f', 'f was not kept: it is not a plain file'],
  ['nothing', 'true', 'f was not kept: it is not there'],
  ['something too large', 'head -c 1001 /dev/zero > f', 'f was not kept: it is too large'],
])('%s is not kept', async (_, command, message) => {
  const outcome = await keeping(command, 'f')
  expect(outcome).toMatchObject({ status: 'ok', kept: [], message })
  expect(await readdir(out)).toEqual([])
})

test('a kept file is not found through a linked folder', async () => {
  expect((await keeping('ln -s /etc d', 'd/passwd')).kept).toEqual([])
})

test('a link at the place where a kept file goes is replaced, not followed', async () => {
  const target = join(out, 'target')
  await writeFile(target, 'precious')
  await symlink(target, join(out, 'kept'))
  await keeping('echo new > f', 'f')
  expect(await readFile(target, 'utf8')).toBe('precious')
  expect((await lstat(join(out, 'kept'))).isFile()).toBe(true)
})

test('a file that is a link or is not there is not put into the box', async () => {
  await symlink('/etc/passwd', join(out, 'link'))
  for (const name of ['link', 'missing']) {
    const outcome = await box.run({ ...shell('true'), files: [{ name: 'f', from: { path: join(out, name) } }] })
    expect(outcome.status).toBe('sandbox-error')
    expect(outcome.message).toMatch(/^cannot put f into the box: /)
  }
})

test('a request with a bad name is refused, and says where', async () => {
  for (const name of ['../f', '/f', 'a//b', '', '.', 'a/../b']) {
    await expect(box.run({ ...shell('true'), files: [{ name, from: { bytes: Buffer.from('') } }] })).rejects.toMatchObject({
      code: 'bad_run_request',
      field: 'files',
    })
  }
  await expect(box.run(shell('true', { processes: -1 }))).rejects.toMatchObject({
    code: 'bad_run_request',
    field: 'limits.processes',
  })
  expect((await box.run(shell('true'))).status).toBe('ok')
})

async function privateFile(bytes: number): Promise<string> {
  const path = join(out, 'private')
  await writeFile(path, Buffer.alloc(bytes), { mode: 0o600 })
  return path
}
