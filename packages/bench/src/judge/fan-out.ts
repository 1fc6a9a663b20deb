import { Installation } from '../jobs/installation.ts'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import type { Rounds } from '../rounds.ts'
import { median } from '../statistics.ts'

const SUBSCRIBERS = 100
const APPENDS = 100

/** From `append_terminal` at a judge to `terminal` at each of a hundred subscribers. */
export async function fanOutRound(rounds: Rounds): Promise<void> {
  await using place = await Installation.open({ leaseMs: 30_000 })
  const times: number[] = []
  let begun = 0
  let expected = 0
  let all = Promise.withResolvers<void>()
  const subscribers = await Promise.all(
    Array.from({ length: SUBSCRIBERS }, () =>
      place.dial((method) => {
        if (method !== 'terminal') return
        times.push(performance.now() - begun)
        expected -= 1
        if (expected === 0) all.resolve()
      }),
    ),
  )
  const [first] = subscribers
  if (first === undefined) throw new Error('nobody subscribed')
  const { job_id } = await first.callTool('job.create', {
    language: 'c',
    current_code: 'int main() {}',
    tests_zip_b64: ONE_CASE_ZIP,
  })
  await first.callTool('job.start', { job_id })
  for (const subscriber of subscribers) await subscriber.callTool('job.subscribe', { job_id, streams: ['terminal'] })
  const judge = await place.dialAsJudge()
  const claim = await judge.callTool('judge.claim_next', { machine_id: 'bench' })
  if (!claim.claimed) throw new Error('there is no job to claim')
  const { claim_id } = claim
  for (let index = 0, offset = 0; index < APPENDS; index += 1) {
    const chunk = Buffer.from(`line ${index} of a terminal\n`)
    all = Promise.withResolvers()
    expected = SUBSCRIBERS
    begun = performance.now()
    const said = judge.callTool('judge.job.append_terminal', { job_id, claim_id, offset, chunk_b64: chunk.toString('base64') })
    await Promise.all([all.promise, said])
    offset += chunk.length
  }
  rounds.add(`append to ${SUBSCRIBERS} subscribers`, 'p50', 'ms', median(times))
  rounds.add(
    `append to ${SUBSCRIBERS} subscribers`,
    'p95',
    'ms',
    times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0,
  )
  await Promise.all([...subscribers, judge].map((client) => client.close()))
}
