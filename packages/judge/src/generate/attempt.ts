import { type ConversationListener, type EngineEvent, type TurnEnd, secondsText } from '@parley/agent'
import { type EngineName, type JobError, type JobSpec, messageOf, settlesWithin, ToolError } from '@parley/protocol'
import { codeHash } from '../status/self-test.ts'
import type { JobVoice } from '../tester.ts'
import type { Generated, GenerateRequest, Prepared } from '../worker/generator.ts'
import { CallBook } from './call-book.ts'
import { EventLog } from './event-log.ts'
import type { GenerateLimits } from './generate-limits.ts'
import type { GeneratorOptions } from './generator-options.ts'
import { makeSolution } from './make-solution.ts'
import { advised, turnError } from './model-failure.ts'
import { problemText } from './prompt.ts'
import { type ReadSolution, readSolution } from './answer/read-solution.ts'
import type { Redactor } from './redact.ts'
import { repairText } from './repair-prompt.ts'
import { AttemptEngine } from './attempt-engine.ts'
import { Silence } from './silence.ts'
import { anewText, continueText, findInput, followUpText, leftMessage, turnMark } from './turn-text.ts'
import { Stopped, orStopped } from './stopped.ts'
import { type JobWorkspace, openWorkspace } from './job-workspace.ts'

export interface AttemptOrder {
  readonly options: GeneratorOptions
  readonly limits: GenerateLimits
  readonly request: GenerateRequest
  readonly voice: JobVoice
  readonly redactor: Redactor
  /** The job's own. */
  readonly signal: AbortSignal
}

/** Why there is no answer. */
class Failed extends Error {
  readonly error: JobError
  constructor(code: string, message: string) {
    super(message)
    this.name = 'Failed'
    this.error = { code, message }
  }

  static of({ code, message }: JobError): Failed {
    return new Failed(code, message)
  }
}

const MESSAGE_CHARS = 2_000

/** One attempt: a turn of the engine, a second one where the first answer cannot be read, and what came of it. */
export class Attempt {
  readonly #order: AttemptOrder
  readonly #spec: JobSpec
  readonly #log: EventLog
  readonly #late = new AbortController()
  readonly #stop: AbortSignal
  readonly #silence: Silence
  #prepared: Prepared | undefined
  #book: CallBook | undefined
  #engine: AttemptEngine | undefined

  constructor(order: AttemptOrder) {
    this.#order = order
    this.#spec = order.request.spec
    this.#stop = AbortSignal.any([order.signal, this.#late.signal])
    const { batchChars, batchMs, waitingMs, waitingEveryMs } = order.limits
    this.#log = new EventLog({ ...order, attempt: order.request.attempt, batchChars, batchMs })
    this.#silence = new Silence({ firstMs: waitingMs, everyMs: waitingEveryMs, say: (waitedMs) => this.#waits(waitedMs) })
  }

  /** Answers code, or why there is none. Throws only for what is no affair of the job. */
  async run(): Promise<Generated> {
    const { limits, redactor, signal } = this.#order
    const timer = setTimeout(() => this.#late.abort(), limits.generateMs)
    try {
      return await this.#work()
    } catch (error) {
      if (error instanceof Failed) {
        const { code, message } = error.error
        return failed(advised({ code, message: redactor.text(message).slice(0, MESSAGE_CHARS) }, this.#spec.job_id))
      }
      if (!(error instanceof Stopped) && !signal.aborted) throw error
      if (signal.aborted) return failed({ code: 'cancelled', message: 'stopped while it was written' })
      return failed({ code: 'generate_timeout', message: `no answer within ${secondsText(limits.generateMs)}` })
    } finally {
      clearTimeout(timer)
      this.#silence.end()
      await this.#engine?.close()
      const usage = await this.#book?.close()
      if (usage !== undefined) this.#log.say({ stage: this.#stage, level: 'info', ...usage })
      this.#log.end()
    }
  }

  get #stage(): 'coding' | 'repair' {
    return this.#order.request.attempt > 1 ? 'repair' : 'coding'
  }

  async #work(): Promise<Generated> {
    const { options, limits, request } = this.#order
    const { inputFolder, attempt, ports } = request
    const engine = this.#spec.engine ?? options.defaultEngine ?? 'mini'
    if (!(options.engines ?? ['mini']).includes(engine))
      throw new Failed('engine_missing', `this judge has no engine ${engine}; it has ${(options.engines ?? ['mini']).join(', ')}`)
    const folder = `${ports.folder}/workspace`
    const workspace = await openWorkspace({ spec: this.#spec, inputFolder, folder, limitBytes: limits.workspaceBytes })
    let reason = ''
    for (let turn = 1; turn <= 1 + limits.followUps; turn += 1) {
      const kept = ports.memory.message(attempt, turn)
      const message = kept ?? (await this.#turn(engine, workspace, turn, reason))
      const read = message.length > limits.answerChars ? TOO_LONG : readSolution(message, this.#spec.language)
      if (read.kind === 'read' && this.#order.redactor.isIn(read.code))
        throw new Failed('secret_leak_detected', 'the program holds a key of this judge, so it is not handed over')
      if (kept === undefined) await ports.memory.turnEnded(attempt, turn, this.#order.redactor.text(message))
      if (read.kind === 'read') return this.#answer(read, workspace)
      reason = read.reason
      this.#log.warn(`the answer cannot be read: ${reason}`, { phase: 'unreadable', turn })
    }
    throw new Failed('generate_unreadable', `the model gave no answer that can be read: ${reason}`)
  }

  #answer(
    { code, document, tolerated }: Extract<ReadSolution, { kind: 'read' }>,
    { hiddenCases, judgedCases }: JobWorkspace,
  ): Generated {
    const { redactor, request } = this.#order
    const { memory } = request.ports
    if (tolerated.length > 0)
      this.#log.warn(`the answer was not as asked for: ${tolerated.join(', ')}`, { phase: 'tolerated', tolerated })
    const { present, run_if_no_expected } = this.#spec.tests
    if (present && !memory.hasPassed(codeHash(code)))
      this.#log.warn('the answer is untested: no self-test of this very program passed', { phase: 'untested' })
    const parts = { spec: this.#spec, code, document: redactor.json(document), tolerated, attempt: request.attempt }
    const notes = present && hiddenCases === 0 && memory.selfTests > 0 ? [selfTestNote(judgedCases, run_if_no_expected)] : []
    return { kind: 'code', code, solution: makeSolution(parts), notes }
  }

  /** One turn to its end. Answers the last message; throws for every other end. */
  async #turn(engine: EngineName, workspace: JobWorkspace, turn: number, reason: string): Promise<string> {
    const { limits, request } = this.#order
    const mark = turnMark(this.#spec.job_id, request.attempt, turn)
    const { memory } = request.ports
    if (this.#engine === undefined) {
      const left = leftMessage(memory.entries(), mark)
      if (left !== undefined) return left
    }
    this.#engine ??= await this.#open(engine, workspace)
    const { conversation, isNew } = this.#engine
    const text = await this.#text(workspace, turn, { mark, reason, isNew: isNew && memory.entries().every(isBeginning) })
    const budget = this.#budget()
    const submitted = conversation.submit({ input: [{ type: 'text', text }], pinned: turn === 1, budget })
    let end: TurnEnd
    this.#silence.begin()
    try {
      end = await orStopped(submitted.ended, this.#stop)
    } catch (error) {
      await settlesWithin(conversation.interrupt(), limits.interruptMs)
      throw error
    } finally {
      this.#silence.end()
    }
    if (this.#stop.aborted) throw new Stopped()
    if (end.kind === 'completed') return end.message
    if (end.kind === 'interrupted')
      throw new Failed('generate_interrupted', 'the engine ended the turn before there was an answer')
    throw Failed.of(turnError(end))
  }

  #budget() {
    const prepared = this.#prepared
    if (prepared === undefined || this.#book === undefined) throw new TypeError('a turn needs a key first')
    return this.#book.left(prepared.budget)
  }

  async #text(
    workspace: JobWorkspace,
    turn: number,
    about: { readonly mark: string; readonly reason: string; readonly isNew: boolean },
  ): Promise<string> {
    const { limits, request } = this.#order
    const { inputFolder, attempt, previous, rejected, ports } = request
    const { mark, reason, isNew } = about
    const head = `[${mark}] Attempt ${attempt} of ${this.#spec.max_attempts}.`
    // The conversation has the question already: the judge before asked it, and died before the answer.
    if (!isNew && findInput(ports.memory.entries(), mark) >= 0) return `${head}\n\n${continueText()}`
    const compiler = ports.tester.languages.find(({ language }) => language === this.#spec.language)?.version ?? null
    const texts = [
      ...(isNew || (attempt === 1 && turn === 1)
        ? [await problemText(this.#spec, { workspace, inputFolder, limits, compiler })]
        : []),
      ...(previous !== null && (isNew || (turn === 1 && rejected === null))
        ? [await repairText(this.#spec, previous, inputFolder, limits)]
        : []),
      ...(rejected !== null && turn === 1 ? [anewText(rejected)] : []),
      ...(turn > 1 ? [followUpText(reason)] : []),
    ]
    return [head, ...texts].join('\n\n')
  }

  async #open(engine: EngineName, workspace: JobWorkspace): Promise<AttemptEngine> {
    const { options, limits, request, voice, redactor } = this.#order
    const prepared = await this.#prepare()
    const { folder } = workspace
    const listener: ConversationListener = { event: (event) => this.#heard(event), approve: () => Promise.resolve('denied') }
    try {
      return await AttemptEngine.open({
        options,
        limits,
        engine,
        prepared,
        request,
        folder,
        voice,
        log: this.#log,
        redactor,
        listener,
        signal: this.#stop,
      })
    } catch (error) {
      if (error instanceof Stopped || this.#stop.aborted) throw new Stopped()
      const code =
        error instanceof Error && 'code' in error && error.code === 'engine_missing' ? 'engine_missing' : 'engine_failed'
      throw new Failed(code, `${engine}: ${messageOf(error)}`)
    }
  }

  /** Asks the gateway for the attempt's key; from then on it is a secret. */
  async #prepare(): Promise<Prepared> {
    const { limits, request, redactor } = this.#order
    const { ports, attempt } = request
    const tooLong = AbortSignal.timeout(limits.prepareMs)
    let prepared: Prepared
    try {
      prepared = await ports.prepare(attempt, AbortSignal.any([this.#stop, tooLong]))
    } catch (error) {
      if (this.#stop.aborted) throw error
      if (error instanceof ToolError) throw new Failed(prepareCode(error), prepareWords(error))
      if (!tooLong.aborted) throw error
      throw new Failed(
        'model_unavailable',
        `the gateway gave no key for ${this.#spec.model} within ${limits.prepareMs / 1_000} s`,
      )
    }
    redactor.add(prepared.api_key)
    redactor.add(prepared.auth_json_b64)
    this.#prepared = prepared
    const warn = (message: string): void => this.#log.warn(message)
    const { model, prices, upstream_channel: channel, script } = prepared
    this.#book = new CallBook(ports, { attempt, model, prices, script, warn })
    const summary = script ? `${model} is a script: a file is played, no model is asked` : `asks ${model} (${channel})`
    this.#log.say({ stage: this.#stage, level: 'info', summary, meta: { phase: 'prepared', model, channel, script } })
    if (this.#spec.search_mode === 'live' && this.#order.request.attempt === 1)
      this.#log.warn('search_mode live: engines have no way to the web here, so it is written without', { phase: 'no_search' })
    return prepared
  }

  #waits(waitedMs: number): void {
    const summary = `waiting for the model, ${secondsText(waitedMs)} so far`
    this.#log.say({ stage: this.#stage, level: 'info', summary, meta: { phase: 'waiting', waited_ms: Math.round(waitedMs) } })
  }

  #heard(event: EngineEvent): void {
    this.#silence.heard(event)
    if (event.type === 'usage') this.#book?.take(event)
    this.#log.take(event)
  }
}

/** What the gateway refuses, as a job's failure is called. */
const PREPARE_CODES: Partial<Record<ToolError['code'], string>> = {
  quota_exceeded: 'budget_quota',
  conflict: 'generate_failed',
  invalid_argument: 'model_rejected',
  forbidden: 'model_rejected',
  not_found: 'model_not_found',
}

/** The hint names the models that there are; others are for judges. */
const prepareWords = ({ code, message, hint }: ToolError): string =>
  code === 'not_found' && hint !== undefined ? `${message}; ${hint}` : message

/** A budget of the job's own is named as it is when it runs out in the middle. */
function prepareCode({ code, message }: ToolError): string {
  if (code === 'quota_exceeded' && message.startsWith('budget.tokens:')) return 'budget_tokens'
  if (code === 'quota_exceeded' && message.startsWith('budget.microusd:')) return 'budget_money'
  return PREPARE_CODES[code] ?? 'model_unavailable'
}

/** What the engine's own tests were worth: where no case is judged they proved nothing. */
function selfTestNote(judgedCases: number, areRun: boolean): string {
  if (judgedCases > 0) return 'self-tested on the judged cases'
  return `self-tested: ${areRun ? 'ran' : 'not run'}, not judged`
}

const TOO_LONG: ReadSolution = { kind: 'unreadable', reason: 'the answer is too long' }
const isBeginning = ({ type }: { readonly type: string }): boolean => type !== 'input'

const failed = (error: JobError): Generated => ({ kind: 'failed', error })
