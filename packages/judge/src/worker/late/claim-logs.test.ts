import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JOB_LIMITS, isJsonObject } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { LATE_PARTS } from '../../fixture/late-parts.ts'
import { type LeftLog, type Waiting, claimIdOf, leaveLogs, nameOf, openWaiting } from '../../fixture/left-logs.ts'
import { type WorkFolder, openWorkFolder } from '../work-folder.ts'
import { WORKER_LIMITS, type WorkerLimits } from '../worker-limits.ts'

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-claim-logs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const openWork = (folder: string, limits: Partial<WorkerLimits> = {}, logged: string[] = []): Promise<WorkFolder> =>
  openWorkFolder(folder, 'aa', () => ({ release: () => {} }), {
    ...LATE_PARTS,
    limits: { ...WORKER_LIMITS, ...limits },
    log: (level, message) => void logged.push(`${level} ${message}`),
  })

/** What a second claim finds in a folder. */
async function claimed(
  folder: string,
  more: Parameters<typeof openWaiting>[2] = {},
  limits: Partial<WorkerLimits> = {},
): Promise<Waiting> {
  const work = await openWork(folder, limits)
  work.makeJob(nameOf(2))
  const waiting = await openWaiting(work, 2, more)
  onTestFinished(() => waiting.logs.close())
  return waiting
}

/** Where one log ends at the gateway. */
const offsetsOf = (agent_status: number, terminal = 0) => ({ offsets: { terminal, agent_status, cases: 0 } })
const line = (word: string): string => `{"summary":"${word}"}\n`

/** What the last line of a log tells as lost. */
function lostIn(text: string): unknown {
  const last: unknown = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')
  return isJsonObject(last) && isJsonObject(last['meta']) ? last['meta']['lost'] : undefined
}

const leave = (folder: string, agent_status: LeftLog, terminal: LeftLog = { text: '' }): void =>
  leaveLogs(join(folder, 'judge-dead/jobs', nameOf(1), 'logs'), 1, { agent_status, terminal })

test('a line that a death cut in half is told and not sent; neither is one that is none of ours', async () => {
  const folder = emptyFolder()
  leave(folder, { text: `${line('a')}\0\0\0\n[1]\n${line('b')}{"summary":"ha` })
  const { agent_status } = await claimed(folder)
  expect(agent_status).toMatch(/^\{"summary":"a"\}\n\{"summary":"b"\}\n\{"ts".*\n$/)
  expect(lostIn(agent_status)).toEqual([{ claim: 1, log: 'agent_status', reason: 'damaged', bytes: 22, lines: 3 }])
})

test('the terminal goes on in the middle of a line', async () => {
  const folder = emptyFolder()
  leave(folder, { text: '' }, { text: 'one\ntw', acked: 2 })
  expect(await claimed(folder, offsetsOf(0, 2))).toMatchObject({ terminal: 'e\ntw', agent_status: '' })
})

const SAID = line('a') + line('b') + line('c')
const A = line('a').length

test.each([
  ['it ends where it was last known to', { acked: A, sent: 2 * A }, 100 + A, false, line('b') + line('c'), 0],
  ['nobody was there in between', { acked: A, sent: 2 * A }, 100 + 2 * A, true, line('c'), 0],
  ['somebody may have been', { acked: A, sent: 2 * A }, 100 + 2 * A, false, line('c'), 1],
  ['somebody was, and nothing was on its way', { acked: A }, 5_000, false, line('b') + line('c'), 0],
  ['nobody was, and it holds what we cannot have sent', { acked: A, sent: 2 * A }, 5_000, true, line('c'), 1],
] as const)('what arrived is known by the end of the log: %s', async (_name, place, end, isNext, sent, doubtful) => {
  const folder = emptyFolder()
  leave(folder, { text: SAID, base: 100, ...place })
  const { agent_status } = await claimed(folder, { ...offsetsOf(end), ...(isNext ? { previousClaimId: claimIdOf(1) } : {}) })
  expect(agent_status.startsWith(sent)).toBe(true)
  const lost = [{ claim: 1, log: 'agent_status', reason: 'doubtful', bytes: doubtful * A, lines: doubtful }]
  if (doubtful === 0) expect(agent_status).toBe(sent)
  else expect(lostIn(agent_status)).toEqual(lost)
})

test('without the note of how far it got, all of it is in doubt, unless the end of the log tells', async () => {
  for (const [more, sent, doubtful] of [
    [{}, '', 3 * A],
    [{ previousClaimId: claimIdOf(1) }, line('c'), 0],
  ] as const) {
    const folder = emptyFolder()
    leave(folder, { text: SAID, base: 100, acked: A })
    unlinkSync(join(folder, 'judge-dead/jobs', nameOf(1), 'logs/agent_status.place'))
    const { agent_status } = await claimed(folder, { ...offsetsOf(100 + 2 * A), ...more })
    expect(agent_status.startsWith(sent)).toBe(true)
    if (doubtful > 0) expect(lostIn(agent_status)).toMatchObject([{ reason: 'doubtful', bytes: doubtful }])
    else expect(agent_status).toBe(sent)
  }
})

test('what a log has no room for is told', async () => {
  const folder = emptyFolder()
  leave(folder, { text: SAID, base: 0 })
  const end = JOB_LIMITS.agentStatusLogBytes - 1_024 - 2 * A
  const { agent_status } = await claimed(folder, offsetsOf(end))
  // Nothing was acknowledged and the log grew: what was not sent yet has never left.
  expect(agent_status.startsWith(line('a') + line('b'))).toBe(true)
  expect(lostIn(agent_status)).toEqual([{ claim: 1, log: 'agent_status', reason: 'full', bytes: A, lines: 1 }])
})

test('logs of a claim of which everything arrived are not kept', async () => {
  const folder = emptyFolder()
  leave(folder, { text: SAID, acked: SAID.length })
  await openWork(folder)
  expect(existsSync(join(folder, 'late'))).toBe(false)
})

test.each([
  ['too many', { lateClaims: 1 }],
  ['too much', { lateBytes: 900 }],
  ['too old', { lateMs: 30 * 60_000 }],
] as const)('late logs keep to their bounds (%s), and what had to go is told', async (_name, limits) => {
  const folder = emptyFolder()
  const late = join(folder, 'late')
  mkdirSync(late, { mode: 0o700 })
  leaveLogs(join(late, nameOf(1)), 1, { agent_status: { text: SAID }, terminal: { text: 'x'.repeat(300) } })
  const hourAgo = Date.now() / 1000 - 3_600
  for (const name of readdirSync(join(late, nameOf(1)))) utimesSync(join(late, nameOf(1), name), hourAgo, hourAgo)
  leaveLogs(join(late, nameOf(3)), 3, { agent_status: { text: line('new') }, terminal: { text: '' } })
  await openWork(folder, limits)
  expect(readdirSync(join(late, nameOf(1)))).toEqual(['about.json'])
  expect(readdirSync(join(late, nameOf(3)))).toContain('agent_status.jsonl')
  const { agent_status, terminal } = await claimed(folder)
  expect(terminal).toBe('')
  expect(agent_status.startsWith(line('new'))).toBe(true)
  expect(lostIn(agent_status)).toEqual([
    { claim: 1, log: 'terminal', reason: 'dropped', bytes: 300, lines: 1 },
    { claim: 1, log: 'agent_status', reason: 'dropped', bytes: SAID.length, lines: 3 },
  ])
  expect(existsSync(late)).toBe(false)
})

test('notes about what had to go have bounds as well', async () => {
  for (const limits of [{ lateNotes: 1 }, { lateNoteMs: -1 }]) {
    const folder = emptyFolder()
    for (const claim of [1, 3, 5]) leaveLogs(join(folder, 'late', nameOf(claim)), claim, { agent_status: { text: SAID } })
    chmodSync(join(folder, 'late'), 0o700)
    await openWork(folder, { lateClaims: 0, ...limits })
    expect(existsSync(join(folder, 'late')) ? readdirSync(join(folder, 'late')).length : 0).toBe('lateNotes' in limits ? 1 : 0)
  }
})

test('a note that a crash of the machine has spoilt is told as a loss', async () => {
  const folder = emptyFolder()
  leave(folder, { text: SAID })
  writeFileSync(join(folder, 'judge-dead/jobs', nameOf(1), 'logs/about.json'), '')
  const { agent_status } = await claimed(folder)
  expect(lostIn(agent_status)).toEqual([{ claim: 0, log: 'agent_status', reason: 'dropped', bytes: SAID.length, lines: 0 }])
})

test('the folder of late logs is for its owner alone; a link, or one that others may write to, is not used and not touched', async () => {
  const elsewhere = emptyFolder()
  leaveLogs(join(elsewhere, nameOf(1)), 1, { agent_status: { text: SAID } })
  const linked = emptyFolder()
  symlinkSync(elsewhere, join(linked, 'late'))
  const open = emptyFolder()
  leaveLogs(join(open, 'late', nameOf(1)), 1, { agent_status: { text: SAID } })
  chmodSync(join(open, 'late'), 0o777)
  for (const folder of [linked, open]) {
    expect(await claimed(folder)).toMatchObject({ agent_status: '', terminal: '' })
    leaveLogs(join(folder, 'judge-dead/jobs', nameOf(3), 'logs'), 3, { agent_status: { text: line('mine') } })
    const logged: string[] = []
    await openWork(folder, {}, logged)
    expect(logged.join('\n')).toContain('is not a folder that this judge')
    expect(readdirSync(join(folder, 'late'))).toEqual([nameOf(1)])
  }
  const good = emptyFolder()
  leave(good, { text: SAID })
  await openWork(good)
  expect(statSync(join(good, 'late')).mode & 0o777).toBe(0o700)
})

test('links among late logs lead nowhere', async () => {
  const secret = join(emptyFolder(), 'secret')
  writeFileSync(secret, line('secret'))
  const folder = emptyFolder()
  const late = join(folder, 'late')
  mkdirSync(late, { mode: 0o700 })
  leaveLogs(join(late, nameOf(1)), 1, { cases: { text: SAID } })
  for (const [name, make] of [
    ['agent_status.jsonl', symlinkSync],
    ['terminal.log', linkSync],
  ] as const) {
    unlinkSync(join(late, nameOf(1), name))
    make(secret, join(late, nameOf(1), name))
  }
  leaveLogs(join(folder, 'beside', nameOf(3)), 3, { agent_status: { text: line('beside') } })
  symlinkSync(join(folder, 'beside', nameOf(3)), join(late, nameOf(3)))
  const { agent_status, terminal, cases } = await claimed(folder)
  expect({ terminal, cases }).toEqual({ terminal: '', cases: SAID })
  expect(agent_status).not.toMatch(/secret|beside/)
  expect(lostIn(agent_status)).toEqual(
    ['terminal', 'agent_status'].map((log) => ({ claim: 1, log, reason: 'damaged', bytes: 0, lines: 0 })),
  )
  expect(existsSync(secret)).toBe(true)
  expect(existsSync(join(folder, 'beside', nameOf(3), 'about.json'))).toBe(true)
})

test('where nothing can be written, what was left goes up from memory, and is not kept for another', async () => {
  const folder = emptyFolder()
  leave(folder, { text: SAID })
  const work = await openWork(folder)
  const job = work.makeJob(nameOf(2))
  rmSync(join(job, 'logs'), { recursive: true })
  const broken: unknown[] = []
  const { logs, agent_status } = await openWaiting(work, 2)
  logs.onBroken((error) => broken.push(error))
  expect(agent_status).toBe(SAID)
  expect(broken).toHaveLength(1)
  await work.late.keep(job, nameOf(2))
  expect(existsSync(join(folder, 'late'))).toBe(false)
})
