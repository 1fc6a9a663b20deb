// Run on a machine whose only cgroup hierarchy is version 2, its own or one that was booted for this: prints what came of a few runs.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type BoxFile, openSandbox, type RunLimits } from '../index.ts'
import { writeAnswers } from './cgroup2-answers.ts'
import { ROOMY } from './scratch.ts'

const GONE_WAIT_MS = 30_000
const LOOK_MS = 50
/** None of the runs is about the clock, and a machine that was booted for this has a tenth of the speed of one that may be busy. */
const PATIENT = { wallMs: 100_000, cpuMs: 60_000 }
const [cacheFolder = '', programs = '', hierarchy = '/sys/fs/cgroup', runFolder = '/run/boxes'] = process.argv.slice(2)
const GROUP = join(hierarchy, 'parley')

/** Groups without a living box. Other boxes of this machine have locks, and come and go. */
function orphans(): string[] {
  if (!existsSync(GROUP)) return []
  const leaves = readdirSync(GROUP).filter((name) => name.startsWith('box-'))
  return leaves.length === 0 ? [GROUP] : leaves.filter((name) => !existsSync(`/run/parley/${name}.lock`))
}

function handedDown(): string | null {
  try {
    return readFileSync(join(GROUP, 'cgroup.subtree_control'), 'utf8').trim()
  } catch {
    return null
  }
}

/**
 * What the groups of boxes are given, null where there are none. Where the hierarchy holds nothing, other boxes that open on this machine
 * make a group to find that out and take it away at once: only one that stays is somebody's.
 */
async function handedDownFor(tier: string): Promise<string | null> {
  let found = handedDown()
  for (let waited = 0; waited < GONE_WAIT_MS && !tier.endsWith('cgroup2') && found !== null; waited += LOOK_MS) {
    await delay(LOOK_MS)
    found = handedDown()
  }
  return found
}

async function orphansLeft(): Promise<string[]> {
  for (let waited = 0; waited < GONE_WAIT_MS && orphans().length > 0; waited += LOOK_MS) await delay(LOOK_MS)
  return orphans()
}

const sandbox = await openSandbox({ driver: 'cage', tier: 'root', cacheFolder, runFolder })
const box = await sandbox.openBox({ kind: 'judge' })

async function run(
  words: readonly string[],
  limits: Partial<RunLimits> = {},
  placed: readonly BoxFile[] = [],
): Promise<{ status: string; text: string }> {
  const outcome = await box.run({
    argv: ['./uses', ...words],
    files: [{ name: 'uses', from: { path: `${programs}/uses` }, executable: true }, ...placed],
    limits: { ...ROOMY, ...PATIENT, memoryBytes: 24 * 1024 * 1024, ...limits },
  })
  return { status: outcome.status, text: Buffer.from(outcome.stdout.bytes).toString() || (outcome.message ?? '') }
}

const PLACED = { name: 'placed-0', from: { bytes: Buffer.alloc(16 * 1024 * 1024, 'p') } }
const answers = {
  tier: sandbox.report.tier,
  // Whether a working folder can be shown is up to the file system of the machine that was booted, not to its cgroups.
  missing: sandbox.report.missing.filter((line) => !line.startsWith('engines run no commands here')),
  plain: await run(['forks', '7'], { processes: 8 }),
  held: await run(['hog', '12']),
  hog: (await run(['hog', '100'])).status,
  children: (await run(['forked-hog', '3', '12'])).status,
  freed: (await run(['frees', 'unlinking', 'forked-hog', '3', '12'], {}, [PLACED])).status,
  tooMany: (await run(['forks', '20'], { processes: 8 })).status,
  unwaited: (await run(['unwaited-spin', '6', '100'], { cpuMs: 300 })).status,
  after: (await run(['exit', '0'])).status,
  while: await handedDownFor(sandbox.report.tier),
  closed: await box.close().then(orphansLeft),
}
process.stdout.write(writeAnswers(answers))
