import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Box, Sandbox } from '../index.ts'
import { shell, type Scratch, scratch, textOf } from '../testing/scratch.ts'

let from: Scratch
let sandbox: Sandbox
let box: Box

beforeAll(async () => {
  from = await scratch()
  sandbox = await from.open()
  box = await sandbox.openBox({ kind: 'judge' })
})
afterAll(async () => {
  await box.close()
  await from[Symbol.asyncDispose]()
})

test('everything that a program reaches for is refused', async () => {
  const lines = textOf(await box.run(from.request('reaches', [])))
    .trim()
    .split('\n')
  const open = lines.filter((line) => line.endsWith(' OPEN'))
  // The kernel says yes to a signal for process 1 and does not deliver it; where that is another user's it says no.
  expect(open.filter((line) => line !== 'signal-init OPEN')).toEqual([])
  expect(lines.length).toBeGreaterThan(105)
  expect(lines.slice(-2)).toEqual(['descriptors 4', 'session 1 group 1'])
})

test('what a program may do to itself stays', async () => {
  const names = ['limits', 'processors', 'scheduler', 'priority', 'disk-priority', 'renaming', 'modes']
  expect(textOf(await box.run(from.request('reaches', ['itself'])))).toBe(names.map((name) => `${name} 1\n`).join(''))
})

test('the environment is what was asked for and nothing else', async () => {
  const outcome = await box.run({ ...from.request('reaches', []), environment: { ONE: '1', TWO: 'a b' } })
  expect(
    textOf(outcome)
      .split('\n')
      .filter((line) => line.startsWith('environment ')),
  ).toEqual(['environment ONE=1', 'environment TWO=a b'])
})

test('files of the host are not there, of whatever kind', async () => {
  const secret = join(from.folder, 'secret')
  await writeFile(secret, 'secret')
  await chmod(secret, 0o666)
  const outcome = await box.run({
    ...from.request('reaches', ['read', secret, from.folder, join(from.folder, 'run'), import.meta.filename, '/etc/hostname']),
  })
  expect(
    textOf(outcome)
      .split('\n')
      .filter((line) => line !== '' && !line.endsWith(' ENOENT')),
  ).toEqual([])
})

test('what is readable can be read and not written', async () => {
  const folder = join(from.folder, 'shown')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'file'), 'shown')
  await chmod(join(folder, 'file'), 0o666)
  const read = `cat ${folder}/file; echo no > ${folder}/file; echo no > ${folder}/new`
  const outcome = await box.run({ ...shell(read), readable: [folder] })
  expect(textOf(outcome)).toBe('shown')
  expect(
    Buffer.from(outcome.stderr.bytes)
      .toString()
      .match(/Read-only file system/g),
  ).toHaveLength(2)
  expect(textOf(await box.run(shell(`cat ${folder}/file`)))).toBe('')
  await using open = await sandbox.openBox({ kind: 'judge', readable: [folder] })
  expect(textOf(await open.run(shell(read)))).toBe('shown')
  expect(textOf(await open.run(shell(read)))).toBe('shown')
})

test('two boxes at once know nothing of each other', async () => {
  await using other = await sandbox.openBox({ kind: 'judge' })
  const look = 'id -u; echo mine > /tmp/note; sleep 0.2; ls /tmp /box; set -- /proc/[0-9]*; echo $#; ls /dev/shm'
  const [one, two] = await Promise.all([box.run(shell(look)), other.run(shell(look))])
  const [mine, theirs] = [textOf(one).split('\n'), textOf(two).split('\n')]
  expect(mine.slice(1)).toEqual(theirs.slice(1))
  if (sandbox.report.enforced['rights']?.startsWith('a user of its own') === true) expect(mine[0]).not.toBe(theirs[0])
})

test('a shared memory segment does not outlive its run', async () => {
  await box.run(shell('ipcmk -M 4096; ipcmk -Q; ipcmk -S 1'))
  const left = textOf(await box.run(shell('ipcs | grep -c 0x')))
  expect(left).toBe('0\n')
})

test('languages find what they need', async () => {
  const outcome = await box.run(
    shell(
      'echo "int main(){}" > a.c && cc a.c -o a && ./a && echo "print(1+1)" | /usr/bin/python3 && perl -e "print 3" && awk "BEGIN{print 4}"',
      {
        memoryBytes: 512 * 1024 * 1024,
        boxBytes: 64 * 1024 * 1024,
      },
    ),
  )
  expect([outcome.status, textOf(outcome)]).toEqual(['ok', '2\n34\n'])
})
