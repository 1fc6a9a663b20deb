import { type GatewayCaller } from '@parley/access'
import type { Served } from '@parley/rpc'
import { Counter, Histogram, type Series, gauge } from './counter.ts'
import { ModelMetrics } from './model-metrics.ts'

/** Told of every call of a tool: which, and `ok` or the code it failed with. */
export type ToolCount = (tool: string, outcome: string) => void

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

/** Methods that get a label of their own; whatever else a client sends counts as `other`. */
const METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'subscriptions/listen',
  'logging/setLevel',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
])

/** What goes on, in numbers. No label ever holds a name, an address or a token. */
export class Metrics {
  readonly #requests = new Counter('parley_requests_total', 'Requests answered.', ['wire', 'era', 'role', 'method', 'code'])
  readonly #seconds = new Histogram('parley_request_seconds', 'Time to answer a request.', SECONDS)
  readonly #tools = new Counter('parley_tool_calls_total', 'Calls of tools.', ['tool', 'outcome'])
  readonly #denied = new Counter('parley_denied_total', 'Clients refused before any message was read.', [
    'wire',
    'status',
    'code',
  ])
  readonly #malformed = new Counter('parley_malformed_total', 'Messages that could not be served.', ['wire', 'code'])
  readonly #failed = new Counter('parley_failures_total', 'Requests that failed by a fault of ours.', ['wire'])
  readonly #signIns = new Counter('parley_sign_ins_total', 'Sign-ins tried.', ['outcome'])
  readonly #claims = new Counter('parley_job_claims_total', 'What became of judges’ looks at the queue of jobs.', ['outcome'])
  readonly #opened = new Counter('parley_connections_total', 'Sessions and sockets opened.', ['wire', 'role'])

  /** What passes the model proxy. */
  readonly models = new ModelMetrics()

  /** What was counted last: most requests are of the same kind as the one before, and joining labels costs more than counting. */
  #last: Omit<Served<GatewayCaller>, 'ms'> | undefined
  #lastSeries: Series | undefined
  readonly #toolsOk = new Map<string, Series>()

  readonly countTool: ToolCount = (tool, outcome) => {
    const known = outcome === 'ok' ? this.#toolsOk.get(tool) : undefined
    const series = known ?? this.#tools.series([tool, outcome])
    series.value += 1
    if (known === undefined && outcome === 'ok') this.#toolsOk.set(tool, series)
  }

  served(event: Served<GatewayCaller>): void {
    const last = this.#last
    const isSame =
      last !== undefined &&
      last.method === event.method &&
      last.errorCode === event.errorCode &&
      last.wire === event.wire &&
      last.era === event.era &&
      last.caller.role === event.caller.role
    const series = isSame && this.#lastSeries !== undefined ? this.#lastSeries : this.#seriesOf(event)
    series.value += 1
    this.#last = event
    this.#lastSeries = series
    this.#seconds.observe(event.ms / 1000)
  }
  #seriesOf({ wire, era, caller, method, errorCode }: Served<GatewayCaller>): Series {
    const code = errorCode === undefined ? 'ok' : String(errorCode)
    return this.#requests.series([wire, era, caller.role, METHODS.has(method) ? method : 'other', code])
  }
  denied(wire: string, status: number, code: string): void {
    this.#denied.add(1, wire, String(status), code)
  }
  malformed(wire: string, code: number): void {
    this.#malformed.add(1, wire, String(code))
  }
  failed(wire: string): void {
    this.#failed.add(1, wire)
  }
  opened(wire: string, role: string): void {
    this.#opened.add(1, wire, role)
  }
  claim(outcome: string): void {
    this.#claims.add(1, outcome)
  }
  signIn(outcome: 'ok' | 'denied' | 'limited'): void {
    this.#signIns.add(1, outcome)
  }

  render(now: {
    readonly sessions: number
    readonly audit: { readonly waiting: number; readonly dropped: number; readonly failures: number }
    readonly rssBytes: number
    readonly heapBytes: number
  }): string {
    const counters = [
      this.#requests,
      this.#seconds,
      this.#tools,
      this.#denied,
      this.#malformed,
      this.#failed,
      this.#signIns,
      this.#claims,
      this.#opened,
    ]
    return [
      ...counters.map((counter) => counter.render()),
      this.models.render(),
      gauge('parley_sessions', 'Sessions and sockets open now.', now.sessions),
      gauge('parley_audit_waiting', 'Audit lines not written yet.', now.audit.waiting),
      gauge('parley_audit_dropped', 'Audit lines lost because too many waited.', now.audit.dropped),
      gauge('parley_audit_failures', 'Writes of the audit log that failed.', now.audit.failures),
      gauge('process_resident_memory_bytes', 'Resident memory.', now.rssBytes),
      gauge('process_heap_bytes', 'Heap in use.', now.heapBytes),
    ].join('')
  }
}
