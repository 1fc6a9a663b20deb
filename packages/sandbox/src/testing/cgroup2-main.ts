// Run on a machine whose only cgroup hierarchy is version 2, its own or one that was booted for this: prints what came of a few runs.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openSandbox, type RunLimits } from '../index.ts'
import { writeAnswers } from './cgroup2-answers.ts'
import { ROOMY } from './fixtures.ts'

const GONE_WAIT_MS = 5_000
const LOOK_MS = 50
const [cacheFolder = '', programs = '', hierarchy = '/sys/fs/cgroup', runFolder = '/run/boxes'] = process.argv.slice(2)
const GROUP = join(hierarchy, 'parley')

/** Groups without a living box. Other boxes of this machine have locks, and come and go. */
function orphans(): string[] {
  if (!existsSync(GROUP)) return []
  const leaves = readdirSync(GROUP).filter((name) => name.startsWith('box-'))
  return leaves.length === 0 ? [GROUP] : leaves.filter((name) => !existsSync(`/run/parley/${name}.lock`))
}

async function orphansLeft(): Promise<string[]> {
  for (let waited = 0; waited < GONE_WAIT_MS && orphans().length > 0; waited += LOOK_MS) await delay(LOOK_MS)
  return orphans()
}

const sandbox = await openSandbox({ driver: 'cage', tier: 'root', cacheFolder, runFolder })
const box = await sandbox.openBox({ kind: 'judge' })

async function run(words: readonly string[], limits: Partial<RunLimits> = {}): Promise<{ status: string; text: string }> {
  const outcome = await box.run({
    argv: ['./uses', ...words],
    files: [{ name: 'uses', from: { path: `${programs}/uses` }, executable: true }],
    limits: { ...ROOMY, memoryBytes: 24 * 1024 * 1024, cpuMs: 20_000, ...limits },
  })
  return { status: outcome.status, text: Buffer.from(outcome.stdout.bytes).toString() || (outcome.message ?? '') }
}

const answers = {
  tier: sandbox.report.tier,
  // Whether a working folder can be shown is up to the file system of the machine that was booted, not to its cgroups.
  missing: sandbox.report.missing.filter((line) => !line.startsWith('engines run no commands here')),
  plain: await run(['forks', '7'], { processes: 8 }),
  held: await run(['hog', '12']),
  hog: (await run(['hog', '100'])).status,
  children: (await run(['forked-hog', '3', '12'])).status,
  tooMany: (await run(['forks', '20'], { processes: 8 })).status,
  unwaited: (await run(['unwaited-spin', '6', '100'], { cpuMs: 300 })).status,
  after: (await run(['exit', '0'])).status,
  while: existsSync(GROUP) ? readFileSync(join(GROUP, 'cgroup.subtree_control'), 'utf8').trim() : null,
  closed: await box.close().then(orphansLeft),
}
process.stdout.write(writeAnswers(answers))
