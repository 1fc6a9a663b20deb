// Run by the first process of a machine of its own, whose only cgroup hierarchy is version 2: prints what came of a few runs, one line.
import { readFileSync, readdirSync } from 'node:fs'
import { openSandbox, type RunLimits } from '../index.ts'
import { ROOMY } from './fixtures.ts'

const GROUPS = '/sys/fs/cgroup'
const [cacheFolder = '', programs = '', mark = ''] = process.argv.slice(2)

const groups = (): string[] => readdirSync(GROUPS).filter((name) => name.startsWith('parley'))
const sandbox = await openSandbox({ driver: 'cage', tier: 'root', cacheFolder, runFolder: '/run/boxes' })
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
  missing: sandbox.report.missing,
  plain: await run(['forks', '7'], { processes: 8 }),
  held: await run(['hog', '12']),
  hog: (await run(['hog', '100'])).status,
  children: (await run(['forked-hog', '3', '12'])).status,
  tooMany: (await run(['forks', '20'], { processes: 8 })).status,
  unwaited: (await run(['unwaited-spin', '6', '100'], { cpuMs: 300 })).status,
  after: (await run(['exit', '0'])).status,
  while: groups().map((name) => `${name}: ${readFileSync(`${GROUPS}/${name}/cgroup.subtree_control`, 'utf8').trim()}`),
  closed: await box.close().then(groups),
}
process.stdout.write(`\n${mark}${JSON.stringify(answers)}\n`)
