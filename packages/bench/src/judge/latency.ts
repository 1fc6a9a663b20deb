import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JobId, Language } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { Installation } from '../jobs/installation.ts'
import { sumTests } from '../jobs/problems.ts'
import { outputOf } from '../measure/output-of.ts'
import type { Rounds } from '../rounds.ts'
import { median } from '../statistics.ts'
import { bareRuns } from './bare.ts'

const JOBS = 40
const PYTHON = 'print(sum(map(int, input().split())))\n'
const C = '#include <stdio.h>\nint main(void) { long a, b; scanf("%ld %ld", &a, &b); printf("%ld\\n", a + b); }\n'

/** Who is told when the first case of the job under way came. */
interface Heard {
  first: (at: number) => void
}

/** From `job.start` with an idle judge to the first case's result at a subscriber, beside the same program run bare. */
export async function latencyRound(rounds: Rounds): Promise<void> {
  await using place = await Installation.open({ leaseMs: 30_000 })
  await place.startJudge(1)
  const heard: Heard = { first: () => {} }
  const client = await place.dial((method) => {
    if (method === 'case_result') heard.first(performance.now())
  })
  const tests = await sumTests()
  const measure = (language: Language, code: string) => firstCases(client, heard, language, () => code, tests)
  await measure('python', PYTHON)
  rounds.add('judge, Python', 'start_to_case', 'ms', median(await measure('python', PYTHON)))
  await measure('c', C)
  rounds.add('judge, C cached', 'start_to_case', 'ms', median(await measure('c', C)))
  let turn = 0
  const fresh = () => `${C}// ${(turn += 1)} ${Date.now()}\n`
  rounds.add('judge, C compiled', 'start_to_case', 'ms', median(await firstCases(client, heard, 'c', fresh, tests)))
  await client.close()
  await bareRound(rounds)
}

async function firstCases(
  client: Client,
  heard: Heard,
  language: Language,
  code: () => string,
  tests: Buffer,
): Promise<readonly number[]> {
  const times: number[] = []
  for (let index = 0; index < JOBS; index += 1) {
    const { job_id: id } = await client.callTool('job.create', {
      language,
      current_code: code(),
      tests_zip_b64: tests.toString('base64'),
    })
    await client.callTool('job.subscribe', { job_id: id, streams: ['cases'] })
    const first = Promise.withResolvers<number>()
    heard.first = first.resolve
    const begun = performance.now()
    const [, at] = await Promise.all([client.callTool('job.start', { job_id: id }), first.promise])
    times.push(at - begun)
    await untilIdle(client, id)
  }
  return times
}

async function untilIdle(client: Client, id: JobId): Promise<void> {
  const { ended, status } = await client.callTool('job.wait', { job_id: id })
  if (!ended || status !== 'succeeded') throw new Error(`${id} came to ${status}`)
}

async function bareRound(rounds: Rounds): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bare-'))
  try {
    const [input, script, source, program] = ['in', 'main.py', 'main.c', 'main'].map((name) => join(folder, name))
    if (input === undefined || script === undefined || source === undefined || program === undefined) throw new Error('no names')
    await Promise.all([writeFile(input, '1 10\n'), writeFile(script, PYTHON), writeFile(source, C)])
    await outputOf('cc', ['-O2', '-o', program, source])
    const runs = { runs: JOBS, lanes: 1, input }
    rounds.add('bare, Python', 'start_to_case', 'ms', median((await bareRuns(['/usr/bin/python3', script], runs)).times))
    rounds.add('bare, C', 'start_to_case', 'ms', median((await bareRuns([program], runs)).times))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
