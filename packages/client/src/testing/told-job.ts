import { type JobLogName, type JobState, type JsonObject } from '@parley/protocol'
import type { Link } from '@parley/rpc'
import { type Answer, JOB, refusal } from './test-server.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const LOGS = ['agent_status', 'cases', 'terminal'] as const

/** A job that a test writes down, told in the way of a gateway: what a real one cannot be brought to do can be done here. */
export class ToldJob {
  readonly logs: Record<JobLogName, string> = { agent_status: '', cases: '', terminal: '' }
  /** What the next calls of a tool are refused with. */
  readonly refusals = new Map<string, JsonObject[]>()
  /** Answers at once where a gateway would wait. */
  isHasty = false
  state: JobState = STATE
  #changed = Promise.withResolvers<void>()
  #following: { readonly link: Link; readonly offsets: Record<JobLogName, number> } | undefined

  readonly answer: Answer = async (name, input, link) => {
    const refused = this.refusals.get(name)?.shift()
    if (refused !== undefined) return refused
    switch (name) {
      case 'job.get_state':
        return { ...this.state }
      case 'job.wait':
        if (this.state.finished_at === null && !this.isHasty) await this.#changed.promise
        return { job_id: JOB, status: this.state.status, ended: this.state.finished_at !== null, state: { ...this.state } }
      case 'job.read_log':
        return this.#read(input)
      case 'job.subscribe':
        return this.#subscribe(input, link)
      default:
        return { job_id: JOB, streams: [] }
    }
  }

  write(log: JobLogName, text: string): void {
    this.logs[log] += text
    this.#tell()
  }

  status(summary: string): void {
    this.write('agent_status', `${JSON.stringify({ ...LINE, summary, seq: summary })}\n`)
  }

  case(name: string, claim: number, attempt = 1): void {
    this.write('cases', `${JSON.stringify({ ...CASE, name, claim, attempt })}\n`)
  }

  end(): void {
    this.state = { ...this.state, status: 'succeeded', finished_at: TIME }
    this.#tell()
  }

  /** The logs are others from now on. */
  restore(): void {
    for (const log of LOGS) this.logs[log] = ''
    this.state = STATE
    this.#following = undefined
  }

  #tell(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
    this.#push()
  }

  #subscribe(input: JsonObject, link: Link | undefined): JsonObject {
    const offsets = { agent_status: 0, cases: 0, terminal: 0 }
    for (const log of LOGS) {
      offsets[log] = Number(input[`${log}_offset`] ?? 0)
      if (offsets[log] > this.logs[log].length) return refusal('invalid_argument', { field: `${log}_offset` })
    }
    if (link !== undefined) this.#following = { link, offsets }
    setImmediate(() => this.#push())
    return { job_id: JOB, streams: [] }
  }

  #push(): void {
    if (this.#following === undefined) return
    const { link, offsets } = this.#following
    for (const [log, method] of [
      ['agent_status', 'agent_status'],
      ['cases', 'case_result'],
    ] as const) {
      for (let end = this.logs[log].indexOf('\n', offsets[log]); end >= 0; end = this.logs[log].indexOf('\n', offsets[log])) {
        const item: JsonObject = JSON.parse(this.logs[log].slice(offsets[log], end))
        offsets[log] = end + 1
        link.notify(method, { job_id: JOB, offset: end + 1, item })
      }
    }
    const bytes = this.logs.terminal.slice(offsets.terminal)
    offsets.terminal += bytes.length
    if (bytes !== '') link.notify('terminal', { job_id: JOB, offset: offsets.terminal, chunk_b64: btoa(bytes) })
    link.notify('job_state', { job_id: JOB, state: { ...this.state } })
  }

  async #read(input: JsonObject): Promise<JsonObject> {
    const stream = LOGS.find((log) => log === input['stream']) ?? 'terminal'
    const offset = Number(input['offset'] ?? 0)
    if (offset > this.logs[stream].length) return refusal('invalid_argument', { field: 'offset' })
    const isOver = (): boolean => this.state.finished_at !== null
    const waitMs = Number(input['wait_ms'] ?? 0)
    if (waitMs > 0) while (!this.isHasty && offset === this.logs[stream].length && !isOver()) await this.#changed.promise
    const chunk = this.logs[stream].slice(offset, offset + Number(input['max_bytes']))
    const next_offset = offset + chunk.length
    const ends = Object.fromEntries(LOGS.map((log) => [log, this.logs[log].length]))
    const eof = isOver() && next_offset === this.logs[stream].length
    return { job_id: JOB, stream, offset, chunk_b64: btoa(chunk), next_offset, eof, ends }
  }
}

const STATE: JobState = {
  schema_version: 'state.v1',
  job_id: JOB,
  owner_user_id: null,
  owner: null,
  title: '',
  status: 'running_test',
  waiting: null,
  created_at: TIME,
  started_at: null,
  finished_at: null,
  expires_at: null,
  language: 'cpp',
  model: null,
  upstream_channel: null,
  engine: null,
  search_mode: 'cached',
  reasoning_effort: 'medium',
  limits: { time_limit_ms: 1_000, memory_limit_mb: 64 },
  resource_limits: { cpus: 1, memory_limit_mb: 64, pids_limit: 1, max_output_bytes_per_test: 1, max_terminal_log_bytes: 1 },
  containers: { generate: null, test: null },
  artifacts: { main_cpp: false, solution_json: false, report_json: false, names: [] },
  error: null,
  judge: null,
  claims: 1,
  lost_claims: 0,
  attempt: 1,
  summary: null,
  unjudged: false,
  retry_of: null,
}

const LINE = { ts: TIME, job_id: JOB, attempt: 1, stage: 'test', level: 'info', progress: null, meta: {} }
const CASE = {
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
  index: 0,
  total: 1,
}
