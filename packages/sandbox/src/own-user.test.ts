import { randomInt } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkBox } from './bwrap/check-box.ts'
import type { Box, Sandbox, SandboxOptions } from './index.ts'
import { ROOMY, type Scratch, scratch, shell, textOf } from './testing/scratch.ts'

type Way = Pick<SandboxOptions, 'driver' | 'tier'>
const asRoot = process.getuid?.() === 0
const withBwrap = existsSync('/usr/bin/bwrap')
const WAYS: readonly Way[] = [
  ...(asRoot ? [{ driver: 'cage', tier: 'root' } as const] : []),
  { driver: 'cage', tier: 'user-namespaces' },
  { driver: 'cage', tier: 'landlock' },
  ...(withBwrap ? [{ driver: 'bwrap' } as const] : []),
]
const SETTINGS = ['/proc/sys/kernel/core_pattern', '/proc/sys/fs/lease-break-time', '/proc/sysrq-trigger']

let from: Scratch
beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

const open = (way: Way): Promise<Sandbox> => from.open({ ...way, runFolder: join(from.folder, `run-${way.driver}-${way.tier}`) })

/** Who a program is to the machine, whatever it is called inside. */
function userOf(commandLine: string): number | undefined {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1') !== commandLine) continue
      return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
    } catch {
      // It ended while it was looked at.
    }
  }
  return undefined
}

/** The same while it runs in a box. */
async function userIn(box: Box): Promise<number | undefined> {
  const seconds = `1000.${randomInt(2 ** 40)}`
  const stop = new AbortController()
  const ended = box.run({ argv: ['/bin/sleep', seconds], limits: { ...ROOMY, wallMs: 60_000 } }, stop.signal)
  try {
    const look = (): number | undefined => userOf(`/bin/sleep\0${seconds}\0`)
    await expect.poll(look, { timeout: 30_000 }).toBeDefined()
    return look()
  } finally {
    stop.abort()
    await ended
  }
}

describe.each(WAYS)('a judged program in $driver $tier', (way) => {
  test('is never root of the machine, and another in each box where there are others to be', async () => {
    const sandbox = await open(way)
    await using one = await sandbox.openBox({ kind: 'judge' })
    await using two = await sandbox.openBox({ kind: 'judge' })
    const users = await Promise.all([userIn(one), userIn(two)])
    expect(users).not.toContain(0)
    expect(new Set(users).size).toBe(asRoot ? 2 : 1)
  })

  test('opens no setting of the machine to write it', async () => {
    await using box = await (await open(way)).openBox({ kind: 'judge' })
    const outcome = await box.run(shell(SETTINGS.map((path) => `(: >> ${path}) && echo ${path}`).join('; ')))
    expect(textOf(outcome)).toBe('')
  })
})

test.runIf(asRoot && withBwrap)('boxes of both drivers have different users at the same time', async () => {
  await using box = await (await open({ driver: 'cage', tier: 'root' })).openBox({ kind: 'judge' })
  await using other = await (await open({ driver: 'bwrap' })).openBox({ kind: 'judge' })
  const [one, two] = await Promise.all([userIn(box), userIn(other)])
  expect(one).not.toBe(two)
})

test('what a box does not hold is found and named', async () => {
  const saw = asRoot ? /saw that it is root, .*settings of the machine, rights/ : /files of the host/
  await expect(checkBox(await open({ driver: 'none' }))).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringMatching(saw),
    hint: expect.stringContaining('C compiler'),
  })
})

test('without a sandbox, who asks for it is told whom programs run as', async () => {
  const { report } = await open({ driver: 'none' })
  expect(report.missing[0]).toBe(`programs run as ${asRoot ? 'root of this machine' : 'this user'}, with all its rights`)
})
