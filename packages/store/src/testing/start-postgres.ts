import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { TEST_CACHE } from '../../../../scripts/testing/test-cache.ts'
import { ownLoopback } from './own-loopback.ts'

const START_TIMEOUT_MS = 90_000
const STOP_TIMEOUT_MS = 30_000
/** PostgreSQL refuses to run as root; this user owns nothing else. */
const NOBODY = 65_534
const SUPERUSER = 'parley'
const run = promisify(execFile)

/** A server of the test's own on a loopback port. */
export interface TestPostgres extends AsyncDisposable {
  /** Its first database. */
  readonly url: string
  /** Another database on the same server: empty, or a copy of one that nobody is connected to. */
  createDatabase(copied?: string): Promise<string>
  /** Stops it at once, as a crash would, and starts it again after a while. Settles when it answers. */
  crash(awayMs: number): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a private server in a temporary folder. It ends with `stop`, or when this process does, however it ends: the
 * shell that guards it reads from a pipe of ours and stops the server when the pipe closes.
 * `settings` are server settings; by default nothing is synced to the disk, which is enough unless the machine is cut off.
 */
export async function startPostgres({
  settings = { fsync: 'off' },
  env = {},
  holds = true,
}: {
  readonly settings?: Readonly<Record<string, string>>
  /** Whether this process stays while the server runs; otherwise the server ends with it. */
  readonly holds?: boolean
  /** Variables of the server besides ours. */
  readonly env?: Readonly<Record<string, string>>
} = {}): Promise<TestPostgres> {
  const bin = await findBinaries()
  const folder = await mkdtemp(join(tmpdir(), 'parley-postgres-'))
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  await run('cp', ['-a', await emptyCluster(bin, user), data])
  const host = ownLoopback()
  const port = await freePort(host)
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const guard = spawn(
    '/bin/sh',
    ['-c', GUARD, 'sh', folder, join(bin, 'postgres'), '-D', data, '-k', folder, '-h', host, '-p', `${port}`, ...options],
    { cwd: folder, env: { ...process.env, ...env }, stdio: ['pipe', 'ignore', 'ignore'], ...user },
  )
  const stop = () => stopGuard(guard, folder)
  if (!holds) {
    guard.unref()
    if (guard.stdin instanceof Socket) guard.stdin.unref()
  }
  const base = `postgres://${SUPERUSER}@${host}:${port}`
  try {
    await waitUntilReady(`${base}/postgres`, guard, join(folder, 'log'))
  } catch (error) {
    await stop()
    throw error
  }
  let databases = 0
  return {
    url: `${base}/postgres`,
    createDatabase: async (copied) => {
      databases += 1
      const name = `test_${databases}`
      const from = copied === undefined ? '' : ` TEMPLATE ${new URL(copied).pathname.slice(1)}`
      await execute(`${base}/postgres`, `CREATE DATABASE ${name}${from}`)
      return `${base}/${name}`
    },
    crash: async (awayMs) => {
      const file = join(data, 'postmaster.pid')
      const before = await readFile(file, 'utf8')
      guard.stdin?.write(`${awayMs / 1000}\n`)
      const until = performance.now() + awayMs + START_TIMEOUT_MS
      while ([before, undefined].includes(await readFile(file, 'utf8').catch(() => undefined))) {
        if (performance.now() > until) throw new Error('PostgreSQL did not start again')
        await sleep(20)
      }
      await waitUntilReady(`${base}/postgres`, guard, join(folder, 'log'))
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

interface ServerUser {
  readonly uid?: number
  readonly gid?: number
}

/**
 * The data of a server that nobody has used, made once for all tests of one user: to make it takes five times as long as to copy it.
 * Whoever makes it meanwhile makes the same; the first to be done gives it its name.
 */
async function emptyCluster(bin: string, user: ServerUser): Promise<string> {
  const { stdout: version } = await run(join(bin, 'initdb'), ['--version'])
  const kept = join(TEST_CACHE, `postgres-${createHash('sha256').update(`${bin} ${version}`).digest('hex').slice(0, 16)}`)
  if (existsSync(kept)) return kept
  await mkdir(TEST_CACHE, { recursive: true, mode: 0o755 })
  const draft = await mkdtemp(join(tmpdir(), 'parley-initdb-'))
  try {
    if (user.uid !== undefined && user.gid !== undefined) await chown(draft, user.uid, user.gid)
    const data = join(draft, 'data')
    const words = ['-D', data, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    await run(join(bin, 'initdb'), words, { cwd: draft, ...user })
    await rename(data, kept).catch((error: unknown) => {
      if (!existsSync(kept)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return kept
}

/** $1 is the folder, the rest the server's command. Each line says for how many seconds the server is to be away; `read` fails when the pipe closes. */
const GUARD = `
folder=$1; shift
while
  "$@" >>"$folder/log" 2>&1 &
  server=$!
  read -r seconds
do
  kill -QUIT $server 2>/dev/null
  wait $server
  sleep $seconds
done
kill -QUIT $server 2>/dev/null
wait $server
cd / && rm -rf "$folder"`

async function stopGuard(guard: ChildProcess, folder: string): Promise<void> {
  if (guard.exitCode === null && guard.signalCode === null) {
    const ended = new Promise((resolve) => guard.once('exit', resolve))
    guard.stdin?.end()
    const patience = new AbortController()
    await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { signal: patience.signal }).then(() => guard.kill('SIGKILL'))])
    patience.abort()
  }
  await rm(folder, { recursive: true, force: true })
}

async function waitUntilReady(url: string, guard: ChildProcess, log: string): Promise<void> {
  const until = performance.now() + START_TIMEOUT_MS
  for (;;) {
    try {
      return await execute(url, 'SELECT 1')
    } catch (cause) {
      if (performance.now() < until && guard.exitCode === null) await sleep(50)
      else throw new Error(`PostgreSQL did not start: ${await readFile(log, 'utf8').catch(() => 'no log')}`, { cause })
    }
  }
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Those on the path, or the newest that Debian has put beside it. */
async function findBinaries(): Promise<string> {
  const installed = await readdir('/usr/lib/postgresql').catch(() => [])
  const candidates = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...installed.toSorted((one, other) => Number(other) - Number(one)).map((version) => `/usr/lib/postgresql/${version}/bin`),
  ]
  for (const folder of candidates) {
    const files = folder === '' ? [] : await readdir(folder).catch(() => [])
    if (files.includes('postgres') && files.includes('initdb')) return folder
  }
  throw new Error('PostgreSQL was not found: install the package postgresql')
}

async function freePort(host: string): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
