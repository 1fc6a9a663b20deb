import {
  AgentStage,
  type JobSpec,
  type JsonObject,
  RpcError,
  STATUS_LIMITS,
  STATUS_SERVER_NAME,
  STATUS_TOOLS,
  TOOL_ERROR_META,
  ToolError,
  type ToolErrorBody,
  countsText,
  describeTool,
  isJsonObject,
  isSameLanguage,
} from '@parley/protocol'
import { JsonText, type Service, type ServiceResult } from '@parley/rpc'
import type * as z from 'zod'
import { languageOf } from '../language/standard.ts'
import type { JobVoice } from '../tester.ts'
import { cutChars } from './cut.ts'
import { type SelfTestAnswer, type SelfTests, timeoutSeconds } from './self-test.ts'

/** What the status service speaks through and tests with. */
export interface StatusServiceParts {
  readonly voice: Pick<JobVoice, 'status'>
  /** Takes secrets out of a text before it is cut: of one that a cut parts, the beginning would stay. */
  readonly clean?: (text: string) => string
  readonly selfTests: SelfTests
  readonly spec: JobSpec
  readonly version: string
  readonly now: () => number
}

type Input<Name extends keyof typeof STATUS_TOOLS> = z.output<(typeof STATUS_TOOLS)[Name]['input']>

const TOOLS = Object.values(STATUS_TOOLS).map((spec) => describeTool(spec))
const NAME_SHOWN_CHARS = 128

/** The server that an engine mounts: it says what it does, and tests before it answers. Whose job it is follows from who serves it. */
export function statusService(parts: StatusServiceParts): Service {
  return new StatusService(parts)
}

class StatusService implements Service {
  readonly info: { readonly name: string; readonly version: string }
  readonly capabilities = { tools: {} }
  readonly instructions =
    'Say what you do with status.update as you go, and run judge.self_test on your solution until it answers ok before you hand it over.'
  readonly #parts: StatusServiceParts
  #last = { line: '', at: Number.NEGATIVE_INFINITY }

  constructor(parts: StatusServiceParts) {
    this.#parts = parts
    this.info = { name: STATUS_SERVER_NAME, version: parts.version }
  }

  call(method: string, params: JsonObject, { signal }: { readonly signal: AbortSignal }): ServiceResult | Promise<ServiceResult> {
    if (method === 'tools/list') return { tools: TOOLS.map((tool) => ({ ...tool, annotations: { ...tool.annotations } })) }
    if (method !== 'tools/call') throw new RpcError('method_not_found', `there is no method ${method.slice(0, NAME_SHOWN_CHARS)}`)
    const { name, arguments: args = {} } = params
    if (!isJsonObject(args)) throw new RpcError('invalid_params', 'arguments must be an object', { field: 'arguments' })
    try {
      if (name === 'status.update') return answer(this.#update(read(name, args)))
      if (name === 'agent.delta') return answer(this.#delta(read(name, args)))
      if (name === 'judge.self_test') return this.#selfTest(read(name, args), signal).then(answer, refuse)
    } catch (error) {
      return refuse(error)
    }
    throw new RpcError(
      'invalid_params',
      `unknown tool: ${typeof name === 'string' ? name.slice(0, NAME_SHOWN_CHARS) : 'without a name'}`,
    )
  }

  #update({ stage, summary, level = 'info', progress, meta }: Input<'status.update'>): JsonObject {
    const cut = cutChars(this.#parts.clean?.(summary) ?? summary, STATUS_LIMITS.summaryChars)
    const known = stageOf(stage)
    const at = this.#parts.now()
    const line = `${known} ${cut}`
    const isFolded = line === this.#last.line && Math.abs(at - this.#last.at) < STATUS_LIMITS.foldMs
    if (isFolded) return { deduped: true }
    this.#last = { line, at }
    const more = { ...(progress === undefined ? {} : { progress }), ...(meta === undefined ? {} : { meta }) }
    return { seq: this.#parts.voice.status({ stage: known, level, summary: cut, ...more }) }
  }

  #delta({ stage, kind, delta, level = 'info', meta }: Input<'agent.delta'>): JsonObject {
    const cut = cutChars(this.#parts.clean?.(delta) ?? delta, STATUS_LIMITS.deltaChars)
    const more = meta === undefined ? {} : { meta }
    return { seq: this.#parts.voice.status({ stage: stageOf(stage), level, summary: '', kind, delta: cut, ...more }) }
  }

  async #selfTest(args: Input<'judge.self_test'>, signal: AbortSignal): Promise<SelfTestAnswer> {
    const source = this.#sourceOf(args)
    const result = await this.#parts.selfTests.run(source, timeoutSeconds(args.timeout_seconds), signal)
    this.#parts.voice.status({
      stage: 'test',
      level: result.ok ? 'info' : 'warn',
      summary: selfTestLine(result),
      meta: { phase: 'self_test', ok: result.ok, unjudged: result.unjudged === true, status: result.status },
    })
    return result
  }

  #sourceOf({ main_cpp, source, language }: Input<'judge.self_test'>): string {
    const { spec } = this.#parts
    if (main_cpp !== undefined && source !== undefined && main_cpp !== source)
      throw new ToolError('invalid_argument', 'main_cpp and source differ; give one of them', { field: 'source' })
    const code = source ?? main_cpp ?? ''
    const field = main_cpp !== undefined && source === undefined ? 'main_cpp' : 'source'
    if (code.trim() === '') throw new RpcError('invalid_params', `${field} must hold the program`, { field })
    if (language !== undefined && !isSameLanguage(language, spec.language) && !isSameLanguage(language, languageOf(spec)))
      throw new ToolError('invalid_argument', `language: the job is to be solved in ${spec.language}`, { field: 'language' })
    return code
  }
}

/** One line on a self-test, for the timeline. */
function selfTestLine({ ok, status, first_failure, first_failure_verdict, ...more }: SelfTestAnswer): string {
  if (more.note !== undefined) return `self-tested: ${more.note}`
  const { passed = 0, judged = 0, run_only = 0, total = 0 } = more
  const counts = judged === 0 ? '' : `: ${countsText({ passed, judged, run_only, total, skipped: total - judged - run_only })}`
  if (ok) return `self-test passed${counts}`
  if (more.error !== undefined) return cutChars(`self-test failed (${status}): ${more.error}`, STATUS_LIMITS.summaryChars)
  if (more.compile_ok === false) return 'self-test failed: it does not compile'
  const first = typeof first_failure === 'string' ? `, first failure ${first_failure} (${first_failure_verdict})` : ''
  return cutChars(`self-test failed${counts}${first}`, STATUS_LIMITS.summaryChars)
}

/** A status line is never worth a failed turn: a stage that nobody knows is taken for the first. */
const stageOf = (stage: string): AgentStage => AgentStage.safeParse(stage).data ?? 'analysis'

/** The arguments as the tool declares them, or what is wrong with the first of them by its name. */
function read<Name extends keyof typeof STATUS_TOOLS>(name: Name, args: JsonObject): Input<Name>
function read(name: keyof typeof STATUS_TOOLS, args: JsonObject): object {
  const parsed = STATUS_TOOLS[name].input.safeParse(args)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const field = (issue?.path ?? []).map(String).join('.')
  throw new ToolError('invalid_argument', `${field}: ${issue?.message ?? 'is wrong'}`, { field })
}

function answer(result: object): JsonText {
  const structured = JSON.stringify(result)
  return new JsonText(`{"content":[{"type":"text","text":${JSON.stringify(structured)}}],"structuredContent":${structured}}`)
}

/** A tool's own failure is a result that says so; anything else is the protocol's. */
function refuse(error: unknown): JsonObject {
  if (!(error instanceof ToolError)) throw error
  const body: ToolErrorBody = { code: error.code, message: error.message }
  if (error.field !== undefined) body.field = error.field
  return {
    content: [{ type: 'text', text: `${error.code}: ${error.message}` }],
    isError: true,
    _meta: { [TOOL_ERROR_META]: body },
  }
}
