import { setTimeout as wait } from 'node:timers/promises'
import { type JobId, type ToolInput, type ToolName, type ToolOutput, ToolError } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import type { Tally } from '../soak.ts'
import type { Problem } from './problems.ts'

/** A job that the gateway said it has, and what must come of it. */
export interface HandedIn {
  readonly id: JobId
  readonly problem: Problem
}

const RETRY_MS = 100
/** A gateway that was killed is back long before this. */
const GIVE_UP_MS = 60_000

/** Calls a tool until it is answered, through kills of the gateway. Only for calls that may be sent twice. */
export async function untilAnswered<Name extends ToolName>(
  client: Client,
  name: Name,
  args: ToolInput<Name>,
  tally: Tally,
): Promise<ToolOutput<Name>> {
  for (const until = Date.now() + GIVE_UP_MS; ;) {
    try {
      return await client.callTool(name, args)
    } catch (error) {
      if (error instanceof ToolError && error.code !== 'unavailable' && error.code !== 'internal') throw error
      if (Date.now() > until) throw error
      tally.count('calls sent again')
      await wait(RETRY_MS)
    }
  }
}

/** Hands a problem in and starts it. A `job.create` that got no answer is forgotten: what it made stays `created` and is nobody's. */
export async function handIn(client: Client, problem: Problem, tests: Buffer, tally: Tally): Promise<HandedIn> {
  for (;;) {
    try {
      const { job_id: id } = await client.callTool('job.create', {
        title: problem.name,
        language: problem.language,
        current_code: problem.code,
        tests_zip_b64: tests.toString('base64'),
        time_limit_ms: 300,
        memory_limit_mb: 256,
      })
      await untilAnswered(client, 'job.start', { job_id: id }, tally)
      tally.count('jobs handed in')
      return { id, problem }
    } catch (error) {
      if (error instanceof ToolError && error.code === 'invalid_argument') throw error
      tally.count('hand-ins without an answer')
      await wait(RETRY_MS)
    }
  }
}
