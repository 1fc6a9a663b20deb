import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { skipAloud } from '@parley/sandbox/testing'
import { startPostgres } from '@parley/store/testing'
import { type TestContext, expect, test } from 'vitest'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'

const DISK_MB = 8

test('a database that lost all its bytes is not begun anew', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  await startOnce(scratch)
  const database = join(scratch.data, 'parley.db')
  truncateSync(database)
  for (const command of [
    ['gateway', '--port', '0'],
    ['up', '--port', '0', '--no-judge'],
    ['user', 'list'],
    ['backup', 'copy.db'],
  ]) {
    const { code, err } = await scratch.run([...command, '--data', scratch.data, '--json'])
    expect({ code, ...errorIn(err) }).toEqual({
      code: 1,
      error: 'database_emptied',
      message: `${database} is empty, but ${join(scratch.data, 'secret')} says that there was an instance here`,
      hint: expect.stringContaining('parley restore FILE'),
    })
  }
  expect(statSync(database).size).toBe(0)
})

test('a damaged database is called so, and the hint is a backup', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  await startOnce(scratch)
  const database = join(scratch.data, 'parley.db')
  writeFileSync(database, readFileSync(database).fill(0x2a, 0, 8_192))
  for (const command of [
    ['gateway', '--port', '0'],
    ['user', 'list'],
  ]) {
    const { code, err } = await scratch.run([...command, '--data', scratch.data, '--json'])
    expect({ code, ...errorIn(err) }).toMatchObject({
      code: 1,
      error: 'unavailable',
      message: expect.stringContaining(`the database ${database} is damaged`),
      hint: expect.stringContaining('parley restore FILE'),
    })
  }
})

test('a command that is given the folder of a gateway on PostgreSQL begins no database there', MANY_PROCESSES, async () => {
  await using postgres = await startPostgres()
  await using scratch = new Scratch()
  const at = ['--data', scratch.data]
  await scratch.start(['gateway', '--port', '0', '--json', '--database', postgres.url, ...at])
  for (const command of [
    ['token', 'create', '--role', 'user', '--user', 'admin'],
    ['user', 'list'],
    ['backup', 'copy.db'],
    ['job', 'list'],
    ['up', '--port', '0', '--no-judge'],
  ]) {
    const { code, err } = await scratch.run([...command, ...at, '--json'])
    expect({ command, code, ...errorIn(err) }).toEqual({
      command,
      code: 1,
      error: 'database_elsewhere',
      message: expect.stringMatching(/^the database of \S+ is PostgreSQL: postgres:\/\/[\d.]+:\d+\/postgres$/),
      hint: expect.stringContaining('--database or PARLEY_DATABASE_URL'),
    })
  }
  const { out } = await scratch.run(['doctor', '--port', '0', ...at, '--json'])
  expect(JSON.parse(out).checks).toContainEqual(expect.objectContaining({ name: 'database', status: 'failed' }))
  expect(existsSync(join(scratch.data, 'parley.db'))).toBe(false)
  expect(await scratch.json(['user', 'list', '--database', postgres.url, ...at])).toMatchObject({
    items: [{ username: 'admin' }],
  })
})

test('a full disk is said to whoever asks, and after it was freed all is well', MANY_PROCESSES, async (context) => {
  await using scratch = new Scratch()
  using disk = ownDisk(context, scratch.data)
  const gateway = await scratch.start(['gateway', '--port', '0', '--json', '--data', scratch.data])
  const readyz = async () => {
    const response = await fetch(`${gateway.ready.url}/readyz`)
    const { error } = JSON.parse(await response.text())
    return { status: response.status, message: error?.message }
  }
  expect(await readyz()).toEqual({ status: 200, message: undefined })
  disk.fill()
  await expect.poll(readyz).toEqual({ status: 503, message: 'the disk of the database is full' })
  const add = () => scratch.run(['user', 'add', `u${Math.random()}`.replace('.', ''), '--data', scratch.data, '--json'])
  // What little room is left in the files takes a few more.
  let refused = await add()
  for (let tries = 0; refused.code === 0 && tries < 200; tries += 1) refused = await add()
  expect(errorIn(refused.err)).toMatchObject({
    error: 'unavailable',
    message: expect.stringContaining('the disk of the database is full'),
  })
  disk.free()
  await expect.poll(readyz).toEqual({ status: 200, message: undefined })
  await scratch.json(['user', 'add', 'later', '--data', scratch.data])
  gateway.kill('SIGTERM')
  await gateway.exited
})

test('a database on a disk that takes no writes is called so', MANY_PROCESSES, async (context) => {
  await using scratch = new Scratch()
  using disk = ownDisk(context, scratch.data)
  await startOnce(scratch)
  disk.makeReadOnly()
  const { code, err } = await scratch.run(['gateway', '--port', '0', '--data', scratch.data, '--json'])
  expect(code).toBe(1)
  expect(errorIn(err).message).toMatch(/read-only|cannot be written/)
  expect(errorIn(err).hint).not.toContain('check that the database runs')
})

/** A gateway that started, and ended in order: everything that an instance has is there. */
async function startOnce(scratch: Scratch): Promise<void> {
  const gateway = await scratch.start(['gateway', '--port', '0', '--json', '--data', scratch.data])
  gateway.kill('SIGTERM')
  await gateway.exited
}

function errorIn(err: string): { error: string; message: string; hint: string } {
  const { code, message, hint } = JSON.parse(err.trim().split('\n').at(-1) ?? '').error
  return { error: code, message, hint }
}

interface OwnDisk extends Disposable {
  fill(): void
  free(): void
  makeReadOnly(): void
}

/** A small disk of its own at the folder. Only root can have one: others skip aloud. */
function ownDisk(context: TestContext, folder: string): OwnDisk {
  mkdirSync(folder, { mode: 0o700 })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=700`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    skipAloud(context, 'a database on a full or read-only disk', `no disk can be mounted here: ${String(error)}`)
  }
  const filler = join(folder, 'filler')
  return {
    fill: () => {
      for (const bytes of [1024 * 1024, 4_096]) {
        try {
          for (let piece = 0; piece < 1_000_000; piece += 1) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' })
        } catch {
          // Full with pieces of this size.
        }
      }
    },
    free: () => rmSync(filler),
    makeReadOnly: () => execFileSync('mount', ['-o', 'remount,ro', folder]),
    [Symbol.dispose]: () => execFileSync('umount', ['-l', folder]),
  }
}
