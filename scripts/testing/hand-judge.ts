import { randomUUID } from 'node:crypto'
import type { AgentStatusItem, CaseItem, JobId, JobOffsets } from '@parley/protocol'
import type { Client } from '@parley/rpc'

type Line = Partial<Omit<AgentStatusItem, 'meta'>> & { readonly meta?: Readonly<Record<string, unknown>> }

interface Artifacts {
  readonly main_cpp?: string
  readonly solution_json?: Record<string, unknown>
}

/** A job in the hands of a test that plays the judge, so that it decides what is written and when. */
export class HandJudge {
  readonly jobId: JobId
  readonly #claim: { readonly job_id: JobId; readonly claim_id: string }
  readonly #offsets: { terminal: number; agent_status: number; cases: number }
  #client: Client

  private constructor(client: Client, claim: { jobId: JobId; claimId: string; offsets: JobOffsets }) {
    this.#client = client
    this.jobId = claim.jobId
    this.#claim = { job_id: claim.jobId, claim_id: claim.claimId }
    this.#offsets = { ...claim.offsets }
  }

  /** Takes the oldest job that waits. */
  static async claim(client: Client): Promise<HandJudge> {
    const claim = await client.callTool('judge.claim_next', { machine_id: 'by-hand', wait_ms: 5_000 })
    if (!claim.claimed) throw new Error('there is no job to claim')
    return new HandJudge(client, { jobId: claim.job_id, claimId: claim.claim_id, offsets: claim.offsets })
  }

  /** Goes on over another connection. */
  reconnected(client: Client): void {
    this.#client = client
  }

  async patch(patch: Record<string, unknown>): Promise<void> {
    await this.#client.callTool('judge.job.patch_state', { ...this.#claim, patch })
  }

  async status(line: Line): Promise<void> {
    const item = { ts: new Date().toISOString(), job_id: this.jobId, attempt: 1, stage: 'coding', level: 'info', progress: null }
    const text = `${JSON.stringify({ ...item, summary: '', meta: {}, seq: randomUUID(), ...line })}\n`
    await this.#append('agent_status', Buffer.from(text))
  }

  async terminal(bytes: Buffer): Promise<void> {
    await this.#append('terminal', bytes)
  }

  /** Tells a case; whatever is left out of it is as in a case that passed. */
  async case(item: Partial<CaseItem>): Promise<void> {
    await this.#append('cases', Buffer.from(`${JSON.stringify({ ...PASSED, ...item })}\n`))
  }

  /** Lets the next judge begin again. */
  async giveBack(): Promise<void> {
    await this.#client.callTool('judge.release_claim', { ...this.#claim, reason: 'unfinished' })
  }

  async #append(log: keyof typeof APPENDS, bytes: Buffer): Promise<void> {
    const chunk = { ...this.#claim, offset: this.#offsets[log], chunk_b64: bytes.toString('base64') }
    const { ok } = await this.#client.callTool(APPENDS[log], chunk)
    if (!ok) throw new Error(`the ${log} log stands elsewhere`)
    this.#offsets[log] += bytes.length
  }

  /** Books one call of a model that nobody has a price for. */
  async use(usage: Record<string, number>): Promise<void> {
    const event = { schema_version: 'usage.v1', job_id: this.jobId, codex_thread_id: null, model: 'unknown', usage }
    await this.#client.callTool('judge.usage.ingest', { ...this.#claim, attempt: 1, call_id: 'call', usage: event })
  }

  async end(patch: Record<string, unknown>, artifacts: Artifacts = {}): Promise<void> {
    await this.#client.callTool('judge.job.put_artifacts', { ...this.#claim, ...artifacts })
    await this.patch(patch)
    await this.#client.callTool('judge.release_claim', this.#claim)
  }
}

const APPENDS = {
  terminal: 'judge.job.append_terminal',
  agent_status: 'judge.job.append_agent_status',
  cases: 'judge.job.append_case',
} as const

const PASSED: CaseItem = {
  name: '1',
  group: '',
  input_rel: '1.in',
  expected_rel: null,
  expected_present: false,
  hidden: false,
  verdict: 'AC',
  exit_code: 0,
  signal: null,
  timeout: false,
  output_limit_exceeded: false,
  time_ms: 1,
  wall_ms: 1,
  memory_kb: 1,
  stdout_truncated: false,
  stderr_truncated: false,
  diff: null,
  message: null,
  points: 1,
  score: 1,
  reruns: 0,
  claim: 1,
  attempt: 1,
  index: 0,
  total: 1,
}
