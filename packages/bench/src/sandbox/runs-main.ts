// The measured process: it stays small, since Node's spawn takes longer the larger its process is. One JSON line at the end.
import { parseArgs } from 'node:util'
import { type Box, openSandbox, type RunLimits, type RunOutcome } from '@parley/sandbox'
import { bareSpawn } from './bare-spawn.ts'

const MIB = 1024 * 1024
const WARM_RUNS = 20
const ACCURACY_RUNS = 40
const SPIN_MS = [5, 20, 50]
const HOLD_MIB = [1, 10, 50]
const INPUT = '17 25\n'
const LIMITS: RunLimits = {
  cpuMs: 10_000,
  wallMs: 60_000,
  memoryBytes: 256 * MIB,
  outputBytes: MIB,
  processes: 16,
  boxBytes: 64 * MIB,
  openFiles: 64,
}

const { values } = parseArgs({ options: { folder: { type: 'string' }, runs: { type: 'string' }, bwrap: { type: 'string' } } })
const folder = values.folder ?? ''
const runs = Number(values.runs ?? 500)
const sandbox = await openSandbox({ driver: 'cage', cacheFolder: `${folder}/cache`, runFolder: `${folder}/run` })
const box = await sandbox.openBox({ kind: 'judge' })

const bytes = Buffer.from(INPUT)
const targets: Record<string, () => Promise<string>> = {
  cage: async () => textOf(await inBox('sum', [], bytes)),
  bare_spawn: () => bareSpawn([`${folder}/sum`], INPUT),
  ...(values.bwrap === undefined ? {} : { bwrap: () => bareSpawn(bwrapCommand(values.bwrap ?? ''), INPUT) }),
}
const samples: Record<string, number[]> = {}
for (let run = -WARM_RUNS; run < runs; run += 1) {
  for (const [name, target] of Object.entries(targets)) {
    const started = performance.now()
    const output = await target()
    const took = performance.now() - started
    if (output !== '42\n') throw new Error(`${name} answered ${output}`)
    if (run >= 0) (samples[name] ??= []).push(took)
  }
}
const residentBytes = process.memoryUsage.rss()

const cpuErrorsMs: number[] = []
const memoryErrorsKib: number[] = []
for (let run = 0; run < ACCURACY_RUNS; run += 1) {
  for (const ms of SPIN_MS) {
    const outcome = await inBox('known', ['spin', String(ms)], bytes)
    cpuErrorsMs.push(outcome.cpuMs - Number(textOf(outcome)) / 1000)
  }
  for (const mib of HOLD_MIB) {
    const kernelKib = Number(await bareSpawn([`${folder}/known`, 'parent', `${folder}/known`, 'hold', String(mib)], ''))
    const outcome = await inBox('known', ['hold', String(mib)], bytes)
    memoryErrorsKib.push(outcome.memoryBytes / 1024 - kernelKib)
  }
}
await box.close()
process.stdout.write(`${JSON.stringify({ tier: sandbox.report.tier, residentBytes, samples, cpuErrorsMs, memoryErrorsKib })}\n`)

async function inBox(program: string, words: readonly string[], input: Uint8Array): Promise<RunOutcome> {
  const outcome = await runIn(box, program, words, input)
  if (outcome.status !== 'ok') throw new Error(`${program} ended as ${outcome.status}: ${outcome.message}`)
  return outcome
}

function runIn(box: Box, program: string, words: readonly string[], input: Uint8Array): Promise<RunOutcome> {
  return box.run({
    argv: [`./${program}`, ...words],
    files: [{ name: program, from: { path: `${folder}/${program}` }, executable: true }],
    stdin: { kind: 'bytes', bytes: input },
    environment: {},
    limits: LIMITS,
  })
}

function textOf(outcome: RunOutcome): string {
  return Buffer.from(outcome.stdout.bytes).toString()
}

/** As little as bubblewrap can do that is a sandbox at all. */
function bwrapCommand(binary: string): readonly string[] {
  const system = [
    '--ro-bind',
    '/usr',
    '/usr',
    '--symlink',
    'usr/lib',
    '/lib',
    '--symlink',
    'usr/lib64',
    '/lib64',
    '--symlink',
    'usr/bin',
    '/bin',
  ]
  return [
    binary,
    '--unshare-all',
    '--die-with-parent',
    ...system,
    '--proc',
    '/proc',
    '--ro-bind',
    `${folder}/sum`,
    '/sum',
    '/sum',
  ]
}
