import { CaseItem, caseRound, JOB_LIMITS, type JobId, parseJson } from '@parley/protocol'
import { bytesOf } from '../base64.ts'
import type { SteadyClient } from '../steady-client.ts'
import { LineLog } from './line-log.ts'

/** The cases of a job that are done by now: of the last round, because with each they begin again. Waits for none. */
export async function readCases(client: SteadyClient, jobId: JobId): Promise<readonly CaseItem[]> {
  const log = new LineLog()
  let cases: CaseItem[] = []
  const tell = (line: string): void => {
    const { data } = CaseItem.safeParse(parseJson(line))
    if (data === undefined) return
    const [first] = cases
    if (first !== undefined && caseRound(first) !== caseRound(data)) cases = []
    cases.push(data)
  }
  for (;;) {
    const input = { job_id: jobId, stream: 'cases', offset: log.read, max_bytes: JOB_LIMITS.previewBytes.max } as const
    const { chunk_b64, ends } = await client.call('job.read_log', input)
    log.push(bytesOf(chunk_b64), tell)
    if (chunk_b64 === '' || log.read >= ends.cases) return cases
  }
}
