import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { childrenOf } from './fixture/children-of.ts'
import { gone } from './fixture/gone.ts'
import { STUBBORN } from './fixture/stubborn.ts'
import { openKeeper } from './keeper.ts'
import { openProcesses } from './open-processes.ts'
import { bornAt } from './process-group.ts'
import { startProgram } from './program.ts'

const env = { PATH: process.env['PATH'] ?? '' }
const sh = (script: string) => ({ command: '/bin/sh', args: ['-c', script], env })

test('a child talks over its own streams and its end is reported', async () => {
  await using processes = await openProcesses()
  const child = await processes.start({ command: 'sh', args: ['-c', 'cat; echo oops >&2; exit 3'], env })
  child.stdin.end('hello')
  expect(await text(child.stdout)).toBe('hello')
  expect(await child.exited).toEqual({ code: 3, signal: null })
  if (!child.stderr.closed) await once(child.stderr, 'close')
  expect(child.stderrTail()).toBe('oops\n')
  expect(processes.count()).toBe(0)
})

test('megabytes pass both ways, with backpressure, without loss', async () => {
  await using processes = await openProcesses()
  const child = await processes.start({ command: 'cat', env })
  const sent = Buffer.alloc(20 * 1024 * 1024, 'the quick brown fox ')
  child.stdin.end(sent)
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  expect(Buffer.concat(chunks).equals(sent)).toBe(true)
})

test('a child inherits nothing that was not listed', async () => {
  await using processes = await openProcesses()
  const child = await processes.start({ command: '/usr/bin/env', env: { ONLY: 'this' }, cwd: '/' })
  expect((await text(child.stdout)).split('\n').filter((line) => line !== '')).toEqual(['ONLY=this'])
})

test('the child keeps no descriptor but its three streams', async () => {
  await using processes = await openProcesses()
  // No pipe, for the shell would hold its ends; and not the last command, for the shell would become it.
  const child = await processes.start(sh('ls /proc/$$/fd; true'))
  expect((await text(child.stdout)).trim().split('\n')).toEqual(['0', '1', '2'])
})

test.each([
  [{ command: 'no-such-command-at-all', env }, 'spawn_failed', 'ENOENT', 'no-such-command-at-all'],
  [{ command: '/etc/passwd', env }, 'spawn_failed', 'EACCES', '/etc/passwd'],
  [{ command: 'sh', env, cwd: '/no/such/folder' }, 'spawn_failed', 'ENOTDIR', '/no/such/folder'],
  [{ command: '', env }, 'invalid_spec', undefined, 'command'],
  [{ command: 'sh', args: ['a\0b'], env }, 'invalid_spec', undefined, 'args[0]'],
  [{ command: 'sh', env: { 'A=B': '' } }, 'invalid_spec', undefined, 'A=B'],
  [{ command: 'sh', env, cwd: 'relative' }, 'invalid_spec', undefined, 'cwd'],
])('%j cannot start and the error says why', async (spec, code, reason, names) => {
  await using processes = await openProcesses()
  const error: unknown = await processes.start(spec).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'ProcessError', code, reason, message: expect.stringContaining(names) })
  expect(processes.count()).toBe(0)
})

test('a file that the kernel cannot execute is a spawn failure or a failed exit, never a hang', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  writeFileSync(join(folder, 'broken'), Buffer.from([0, 1, 2, 3]), { mode: 0o755 })
  await using processes = await openProcesses()
  const outcome = await processes.start({ command: join(folder, 'broken'), env }).then(
    (child) => child.exited,
    (error: unknown) => error,
  )
  expect(outcome).not.toMatchObject({ code: 0 })
  rmSync(folder, { recursive: true })
})

test('no more processes than allowed', async () => {
  await using processes = await openProcesses({ maxProcesses: 1 })
  const first = await processes.start({ command: 'cat', env })
  await expect(processes.start({ command: 'cat', env })).rejects.toMatchObject({ code: 'too_many_processes' })
  expect(await first.stop(5_000)).toEqual({ code: 0, signal: null })
  const second = await processes.start({ command: 'cat', env })
  await second.stop(0)
})

test('stop is gentle first: end of input, then SIGTERM, then SIGKILL for the whole group', async () => {
  await using processes = await openProcesses()
  const polite = await processes.start({ command: 'cat', env })
  expect(await polite.stop(5_000)).toEqual({ code: 0, signal: null })
  const deaf = await processes.start({ command: 'sleep', args: ['1000'], env })
  expect(await deaf.stop(50)).toEqual({ code: null, signal: 'SIGTERM' })
  const stubborn = await processes.start(STUBBORN)
  const [pids] = await once(stubborn.stdout, 'data')
  expect(await stubborn.stop(50)).toEqual({ code: null, signal: 'SIGKILL' })
  for (const pid of String(pids).trim().split(' ')) await gone(Number(pid))
})

test('what a leader leaves in its group ends with it', async () => {
  await using processes = await openProcesses()
  const child = await processes.start(sh('sleep 1000 & echo $!'))
  const offspring = Number(await text(child.stdout))
  expect(await child.exited).toEqual({ code: 0, signal: null })
  await gone(offspring)
})

test('a flood on stderr that nobody reads neither blocks the child nor grows memory', async () => {
  await using processes = await openProcesses()
  const child = await processes.start(sh('yes complaint | head -c 30000000 >&2; echo last >&2'))
  expect(await child.exited).toEqual({ code: 0, signal: null })
  if (!child.stderr.closed) await once(child.stderr, 'close')
  expect(child.stderrTail().endsWith('complaint\nlast\n')).toBe(true)
  expect(child.stderrTail().length).toBeLessThanOrEqual(16 * 1024)
})

test('the spawner stays small and its sockets are private', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const processes = await openProcesses({ folder })
  const child = await processes.start({ command: 'cat', env })
  const status = readFileSync(`/proc/${processes.spawnerPid()}/status`, 'utf8')
  const residentMb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  console.log(`spawner: ${residentMb.toFixed(0)} MB resident`)
  expect(residentMb).toBeLessThan(100)
  const [name = ''] = readdirSync(folder)
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700)
  await child.stop(1_000)
  await processes.close(0)
  expect(readdirSync(folder)).toEqual([])
  rmSync(folder, { recursive: true })
})

test('closing ends every child and the spawner; nothing starts afterwards', async () => {
  const processes = await openProcesses()
  const child = await processes.start(STUBBORN)
  const spawner = processes.spawnerPid() ?? 0
  await processes.close(50)
  await gone(child.pid)
  await gone(spawner)
  await expect(processes.start({ command: 'cat', env })).rejects.toMatchObject({ code: 'closed' })
})

test('kill -9 of the spawner ends its children, and the next start gets a new spawner', async () => {
  await using processes = await openProcesses()
  const child = await processes.start(STUBBORN)
  const [line] = await once(child.stdout, 'data')
  const before = processes.spawnerPid() ?? 0
  process.kill(before, 'SIGKILL')
  expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL', lost: true })
  for (const pid of String(line).trim().split(' ')) await gone(Number(pid))
  const next = await processes.start({ command: 'cat', env })
  expect(processes.spawnerPid()).not.toBe(before)
  expect(await next.stop(5_000)).toEqual({ code: 0, signal: null })
})

/** An owner in a process of its own with a stubborn child, and everybody's process id. */
async function startOwner() {
  // With both dead nobody removes the folder of the sockets: let it be inside one of ours.
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const program = await startProgram({
    entry: new URL('./fixture/owner-main.ts', import.meta.url),
    env: { ...env, TMPDIR: folder },
  })
  const [line] = await once(program.stdout, 'data')
  const who: { owner: number; spawner: number; leader: number; offspring: number } = JSON.parse(String(line))
  const keeper = (): number | undefined => childrenOf(who.spawner).find(({ command }) => command.includes('parley-keeper'))?.pid
  return {
    ...who,
    keeper,
    [Symbol.asyncDispose]: async () => {
      program.kill('SIGKILL')
      await program.exited
      rmSync(folder, { recursive: true })
    },
  }
}

test.each([['owner'], ['spawner'], ['owner and spawner'], ['spawner and owner']])(
  'kill -9 of the %s leaves no process behind',
  async (victims) => {
    await using who = await startOwner()
    const keeper = who.keeper() ?? 0
    expect(keeper).toBeGreaterThan(0)
    const pids = { owner: who.owner, spawner: who.spawner }
    for (const victim of victims.split(' and '))
      if (victim === 'owner' || victim === 'spawner') process.kill(pids[victim], 'SIGKILL')
    for (const pid of [who.spawner, who.leader, who.offspring, keeper]) await gone(pid)
  },
)

test('kill -9 of what keeps the groups brings another, which knows them too', async () => {
  await using who = await startOwner()
  const first = who.keeper() ?? 0
  process.kill(first, 'SIGKILL')
  await gone(first)
  await expect.poll(who.keeper).toBeGreaterThan(0)
  const second = who.keeper() ?? 0
  expect(second).not.toBe(first)
  process.kill(who.owner, 'SIGKILL')
  process.kill(who.spawner, 'SIGKILL')
  for (const pid of [who.leader, who.offspring, second]) await gone(pid)
})

test('a group that has ended is not touched, nor one whose number is somebody else’s by now', async () => {
  const keeper = openKeeper()
  const [ended, another, left] = await Promise.all([startSleeper(), startSleeper(), startSleeper()])
  keeper.add({ pid: ended.pid, bornAt: bornAt(ended.pid) })
  keeper.add({ pid: another.pid, bornAt: '1' })
  keeper.add({ pid: left.pid, bornAt: bornAt(left.pid) })
  keeper.remove({ pid: ended.pid, bornAt: bornAt(ended.pid) })
  await keeper.end()
  await gone(left.pid)
  expect([ended, another].map(({ pid }) => bornAt(pid))).not.toContain(null)
  for (const sleeper of [ended, another]) {
    sleeper.kill('SIGKILL')
    await sleeper.exited
  }
})

test.each([['a\nb'], ['\n\n'], ['a) S 1 1 (b'], [') \n) '], [' a  b '], ['* ?\\n'], ['a)\nb) R 1']])(
  'a leader that calls itself %j does not escape its end',
  async (name) => {
    const leader = await startProgram({
      entry: new URL('./fixture/named-main.ts', import.meta.url),
      env: { ...env, NAME: name },
    })
    await once(leader.stdout, 'data')
    expect(readFileSync(`/proc/${leader.pid}/comm`, 'latin1')).toBe(`${name}\n`)
    const born = bornAt(leader.pid)
    expect(born).toMatch(/^\d+$/)
    const foreign = openKeeper()
    foreign.add({ pid: leader.pid, bornAt: '1' })
    await foreign.end()
    expect(bornAt(leader.pid)).toBe(born)
    const keeper = openKeeper()
    keeper.add({ pid: leader.pid, bornAt: born })
    await keeper.end()
    await gone(leader.pid)
    expect(await leader.exited).toMatchObject({ signal: 'SIGKILL' })
  },
)

test('a leader whose time of birth could not be read is ended too', async () => {
  const keeper = openKeeper()
  const leader = await startSleeper()
  keeper.add({ pid: leader.pid, bornAt: null })
  await keeper.end()
  expect(await leader.exited).toMatchObject({ signal: 'SIGKILL' })
})

/** A direct child of this process that leads a group. */
function startSleeper() {
  return startProgram({ entry: new URL('./fixture/sleeper-main.ts', import.meta.url), env })
}
