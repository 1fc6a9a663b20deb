import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BoxBusy, type Box, type Sandbox } from '../index.ts'
import { shell, type Scratch, scratch, textOf } from '../testing/scratch.ts'
import { skipAloud } from '../testing/skip-aloud.ts'

const OWNER = join(import.meta.dirname, '..', 'testing', 'owner-main.ts')
const ROUNDS = 30
const asRoot = process.getuid?.() === 0

let from: Scratch
let sandbox: Sandbox

beforeAll(async () => {
  from = await scratch()
  // Of its own, so that processes of this file are known by where their program lies.
  sandbox = await from.open({ cacheFolder: join(from.folder, 'cache') })
})
afterAll(() => from[Symbol.asyncDispose]())

/** What helpers of ours have on the machine: processes, mounts, folders. */
function traces(): { processes: string[]; mounts: string[]; folders: string[] } {
  const processes = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && readIfThere(`/proc/${pid}/cmdline`).startsWith(from.folder),
  )
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(from.folder) || line.includes('/box '))
  return { processes, mounts, folders: readdirSync(join(from.folder, 'run')) }
}

/** Locks of users that were leased by these processes. */
function locksOf(pids: readonly string[]): string[] {
  if (!existsSync('/run/parley')) return []
  return readdirSync('/run/parley').filter((name) => pids.includes(readIfThere(join('/run/parley', name)).trim()))
}

/** Leaves of cgroups that nobody holds the lock for. Other tests have boxes too: theirs have locks. */
function orphanedLeaves(): string[] {
  const hierarchies = existsSync('/sys/fs/cgroup')
    ? readdirSync('/sys/fs/cgroup').map((name) => join('/sys/fs/cgroup', name, 'parley'))
    : []
  const leaves = hierarchies
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path).filter((name) => name.startsWith('box-')))
  return leaves.filter((name) => !existsSync(`/run/parley/${name}.lock`))
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Without those that were there before. */
function newSince(before: ReturnType<typeof traces>): Record<string, string[]> {
  const old = Object.values(before).flat()
  return Object.fromEntries(Object.entries(traces()).map(([name, now]) => [name, now.filter((item) => !old.includes(item))]))
}
const NOTHING = { processes: [], mounts: [], folders: [] }

async function startOwner(tier: string, command: string): Promise<ChildProcess> {
  const owner = spawn(process.execPath, [OWNER, join(from.folder, 'cache'), join(from.folder, 'run'), tier, command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (owner.stdout !== null) await once(owner.stdout, 'data')
  return owner
}

test('a closed box leaves nothing: no process, cgroup, mount, lock or folder', async () => {
  await mkdir(join(from.folder, 'run'), { recursive: true })
  const before = traces()
  const box = await sandbox.openBox({ kind: 'judge' })
  const uid = textOf(await box.run(shell('id -u'))).trim()
  const pids = newSince(before)['processes'] ?? []
  expect(pids).not.toEqual([])
  if (asRoot) expect(locksOf(pids)).toHaveLength(1)
  await box.close()
  await box.close()
  expect([newSince(before), locksOf(pids)]).toEqual([NOTHING, []])
  await expect.poll(orphanedLeaves).toEqual([])
  expect(uid).toMatch(/^\d+$/)
  expect((await box.run(shell('true'))).status).toBe('sandbox-error')
})

test.each(asRoot ? ['root', 'landlock'] : ['user-namespaces', 'landlock'])(
  'kill -9 of the owner leaves nothing running (%s)',
  async (tier) => {
    const before = traces()
    const owner = await startOwner(tier, 'for i in 1 2 3; do (setsid sleep 7531 &) ; done; sleep 7531')
    await expect.poll(() => sleepersOf(owner.pid)).toHaveLength(4)
    const asleep = sleepersOf(owner.pid)
    const pids = newSince(before)['processes'] ?? []
    owner.kill('SIGKILL')
    await once(owner, 'close')
    await expect.poll(() => newSince(before)).toEqual(NOTHING)
    await expect.poll(() => asleep.filter(isSleeper)).toEqual([])
    expect(locksOf(pids)).toEqual([])
  },
)

const TIERS = (['root', 'user-namespaces', 'landlock'] as const).slice(asRoot ? 0 : 1)
test.each(TIERS)('kill -9 of the helper ends what runs in its box, answers the owner, and leaves nothing (%s)', async (tier) => {
  const own = await from.open({ cacheFolder: join(from.folder, 'cache'), tier })
  const before = traces()
  const box = await own.openBox({ kind: 'judge' })
  const running = box.run(shell('sleep 7531', { wallMs: 600_000 }))
  await expect.poll(() => sleepersOf(process.pid)).toHaveLength(1)
  const asleep = sleepersOf(process.pid)
  const [helper] = newSince(before)['processes']?.toSorted((one, other) => Number(one) - Number(other)) ?? []
  process.kill(Number(helper), 'SIGKILL')
  expect(await running).toMatchObject({ status: 'sandbox-error', message: expect.stringContaining('SIGKILL') })
  await expect.poll(() => asleep.filter(isSleeper)).toEqual([])
  // No other box is opened meanwhile: that would find it too.
  await box.close()
  expect([newSince(before), locksOf([helper ?? ''])]).toEqual([NOTHING, []])
  await expect.poll(orphanedLeaves).toEqual([])
  await using next = await own.openBox({ kind: 'judge' })
  expect((await next.run(shell('true'))).status).toBe('ok')
})

test('aborting kills at once and says what was seen', async () => {
  await using box = await sandbox.openBox({ kind: 'judge' })
  const abort = new AbortController()
  const onOutput = (): void => abort.abort()
  const outcome = await box.run({ ...shell('echo begun; exec sleep 7531', { wallMs: 600_000 }), onOutput }, abort.signal)
  expect([outcome.status, outcome.signal, textOf(outcome)]).toEqual(['signal', 'SIGKILL', 'begun\n'])
  expect((await box.run(shell('echo next'))).status).toBe('ok')
  expect(await box.run(shell('sleep 7531', { wallMs: 600_000 }), AbortSignal.abort())).toMatchObject({
    status: 'signal',
    signal: 'SIGKILL',
  })
})

test('an abort that comes too late changes nothing', async () => {
  await using box = await sandbox.openBox({ kind: 'judge' })
  for (let round = 0; round < 10; round += 1) {
    const abort = new AbortController()
    await box.run(shell('true'), abort.signal)
    abort.abort()
    expect((await box.run(shell('echo fine'))).status).toBe('ok')
  }
})

test('orders leave the helper as they found it', async (context) => {
  if (!asRoot)
    skipAloud(context, 'that a helper keeps no descriptor of an order', 'only root may look into a helper’s /proc/PID/fd')
  const before = traces()
  await using box = await sandbox.openBox({ kind: 'judge' })
  const helper = newSince(before)['processes']?.toSorted((one, other) => Number(one) - Number(other))[0] ?? ''
  const large = { name: 'large', from: { path: from.program('uses') } }
  const missing = { kind: 'file', path: join(from.folder, 'missing') } as const
  const everything = async (): Promise<void> => {
    await box.run({ ...shell('cat large', { outputBytes: 100 }), files: [large], readable: [from.folder] })
    await box.run({ ...shell('true'), readable: [from.folder], stdin: missing })
    await box.run({ ...shell('true'), readable: [from.folder, missing.path] })
    await box.run({ ...shell('cat'), stdin: { kind: 'file', path: large.from.path }, captureBytes: { stdout: 10, stderr: 10 } })
  }
  const held = (): number => readdirSync(`/proc/${helper}/fd`).length
  await everything()
  const first = held()
  for (let round = 0; round < ROUNDS; round += 1) await everything()
  // A run that is being made ready holds some more or fewer; one left behind by each round would be many more.
  await expect.poll(held).toBeLessThan(first + ROUNDS)
})

test('a box runs one program at a time', async () => {
  await using box: Box = await sandbox.openBox({ kind: 'judge' })
  const first = box.run(shell('sleep 0.1'))
  await expect(box.run(shell('true'))).rejects.toBeInstanceOf(BoxBusy)
  expect((await first).status).toBe('ok')
})

/** Processes that sleep for as long as nobody else does, whose chain of parents leads to this one. */
function sleepersOf(owner: number | undefined): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]))
  return pids.filter((pid) => isSleeper(pid) && leadsTo(pid, String(owner), parents))
}

function isSleeper(pid: string): boolean {
  return readIfThere(`/proc/${pid}/cmdline`).startsWith('sleep\u00007531')
}

function parentOf(pid: string): string {
  const stat = readIfThere(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0] ?? ''
}

function leadsTo(pid: string, owner: string, parents: ReadonlyMap<string, string>): boolean {
  let at = pid
  while (at !== '' && at !== '0' && at !== owner) at = parents.get(at) ?? ''
  return at === owner
}
