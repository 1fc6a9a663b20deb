import { parseArgs } from 'node:util'
import { ableOf } from '../able.ts'
import { SOAK_SIDES } from '../soak.ts'
import { SOAKS } from './soaks.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string' },
    share: { type: 'string' },
    rounds: { type: 'string' },
    schedules: { type: 'string' },
    side: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
const unknown = positionals.filter((name) => !SOAKS.some((soak) => soak.name === name))
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const share = Number(values.share ?? 1)
const rounds = values.rounds === undefined ? {} : { rounds: Number(values.rounds) }
const schedules = values.schedules === undefined ? {} : { schedules: Number(values.schedules) }
const wanted = SOAK_SIDES.find((name) => name === values.side)
const side = wanted === undefined ? {} : { side: wanted }
const until = Date.now() + Number(values.minutes ?? 0) * 60_000
if (
  values.help === true ||
  unknown.length > 0 ||
  !Number.isInteger(seed) ||
  !(share > 0) ||
  Number.isNaN(until) ||
  rounds.rounds === 0 ||
  Number.isNaN(rounds.rounds) ||
  (values.side !== undefined && wanted === undefined) ||
  (schedules.schedules !== undefined && !(schedules.schedules > 0))
) {
  const names = SOAKS.map((soak) => `  ${soak.name.padEnd(12)}${soak.summary}`).join('\n')
  const complaint = unknown.length > 0 ? `no soak is called ${unknown.join(', ')}\n` : ''
  process.stderr.write(
    `${complaint}npm run soak [NAME…] [-- --seed N --minutes M --share 0.1 --rounds N --schedules N --side ${SOAK_SIDES.join('|')}]\n${names}\n`,
  )
  process.exit(values.help === true ? 0 : 2)
}

const asked = SOAKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const able = await ableOf(asked)
if (able === undefined) process.exit(1)

/** Each once at least; with `--minutes` again and again with the next seed until the time is up. */
for (let turn = 0; turn === 0 || Date.now() < until; turn += 1) {
  for (const soak of asked.filter(({ name }) => able.has(name))) {
    process.stdout.write(`${soak.name} --seed ${seed + turn}\n`)
    const started = Date.now()
    const result = await soak.run({
      seed: seed + turn,
      share,
      ...rounds,
      ...schedules,
      ...side,
      log: (line) => process.stderr.write(`  ${line}\n`),
    })
    const counts = Object.entries(result.counts).map(([name, count]) => `  ${name}: ${count}\n`)
    process.stdout.write(
      `${counts.join('')}  ${Math.round((Date.now() - started) / 1000)} s, ${result.problems.length === 0 ? 'held' : 'DID NOT HOLD'}\n`,
    )
    for (const problem of result.problems) process.stdout.write(`  ${problem}\n`)
    if (result.problems.length > 0) process.exitCode = 1
  }
}
