import { CallCancelled, type JsonObject, type JsonValue, type Moves, Place, RPC_CODES, RpcError } from '@parley/protocol/wire'
import { type KnownTask, type TaskStatus, taskText, type TaskView } from './known-task.ts'
import type { TaskLimits } from './task-limits.ts'

/** Whose a task is: found by nobody without this key, and counted together with all of this person. */
export interface TaskOwner {
  readonly key: string
  readonly person: string
}

/** What a call that failed says: an error of JSON-RPC. */
export interface TaskError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue | undefined
}

export interface TaskParts {
  readonly id: string
  readonly owner: TaskOwner
  /** What is waited for, in words. */
  readonly words: string | undefined
  /** How large its request is, which is in memory until the call has ended. */
  readonly requestBytes: number
  readonly limits: Pick<TaskLimits, 'taskMs' | 'taskKeptMs' | 'taskPollMs'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Asks for room to keep so many bytes, instead of what it held. */
  readonly hold: (bytes: number) => boolean
  /** Ends the work. */
  readonly stop: (why: Error) => void
  /** It has ended, and is kept for so long from now. */
  readonly ended: (keptMs: number) => void
}

type End = 'completed' | 'failed' | 'cancelled'
/** How it ended, as what a client is told of it. */
export interface EndText {
  readonly member: 'result' | 'error'
  readonly text: string
}

const ENDS = ['completed', 'failed', 'cancelled'] as const
const MOVES: Moves<TaskStatus> = {
  working: ['input_required', ...ENDS],
  input_required: ['input_required', 'working', ...ENDS],
  completed: [],
  failed: [],
  cancelled: [],
}

/** One call that goes on without its request. An end is final: whatever comes after it is left out. */
export class Task implements KnownTask {
  readonly #parts: TaskParts
  readonly #place = new Place<TaskStatus>(MOVES, 'working')
  readonly #createdAt: number
  readonly #watchers = new Set<() => void>()
  /** What the client is still to answer, by the key that it sees. */
  readonly #questions = new Map<string, { readonly name: string; readonly request: JsonObject }>()
  /** No key is given twice: a client goes by it to tell what it has answered. */
  readonly #keys = new Set<string>()
  #answers: Record<string, JsonObject> = {}
  #answered: PromiseWithResolvers<Record<string, JsonObject>> | undefined
  #words: string | undefined
  #end: EndText | undefined
  #updatedAt: number
  #ttlMs: number
  #isGiven = false
  #bytes: number

  constructor(parts: TaskParts) {
    this.#parts = parts
    this.#createdAt = parts.now()
    this.#updatedAt = this.#createdAt
    this.#words = parts.words
    this.#ttlMs = parts.limits.taskMs
    this.#bytes = parts.requestBytes
  }

  get id(): string {
    return this.#parts.id
  }
  get owner(): TaskOwner {
    return this.#parts.owner
  }
  get bytes(): number {
    return this.#bytes
  }
  get isEnded(): boolean {
    return MOVES[this.#place.at].length === 0
  }
  /** Whether its client has been told how it ended: then it may make room for others. */
  get isGiven(): boolean {
    return this.#isGiven
  }

  /** `undefined` while it works, and where it was cancelled. */
  get end(): EndText | undefined {
    return this.#end
  }
  /** What its client is still to answer, by the keys that it answers with. */
  get questions(): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries([...this.#questions].map(([key, { request }]) => [key, request]))
  }

  view(): TaskView {
    return {
      taskId: this.id,
      status: this.#place.at,
      statusMessage: this.#words,
      createdAt: new Date(this.#createdAt).toISOString(),
      lastUpdatedAt: new Date(this.#updatedAt).toISOString(),
      ttlMs: this.#ttlMs,
      pollIntervalMs: this.#parts.limits.taskPollMs,
    }
  }

  detailed(): string {
    if (this.isEnded) this.#isGiven = true
    if (this.#place.at !== 'input_required') return taskText(this.view(), this.#end)
    return taskText(this.view(), { member: 'inputRequests', text: JSON.stringify(this.questions) })
  }

  /** Asks the client, and waits for all of its answers, by the names that were asked by. */
  ask(requests: Readonly<Record<string, JsonObject>>): Promise<Record<string, JsonObject>> {
    const asked = Object.entries(requests)
    if (this.isEnded) return Promise.reject(new RpcError('internal_error', 'the task has ended'))
    if (asked.length === 0) return Promise.resolve({})
    if (!this.#hold(this.#parts.requestBytes + JSON.stringify(requests).length))
      return Promise.reject(new RpcError('overloaded', 'too much is kept for your tasks already: read what has ended'))
    for (const [name, request] of asked) this.#questions.set(this.#keyFor(name), { name, request })
    this.#answers = {}
    this.#answered = Promise.withResolvers()
    this.#move('input_required')
    return this.#answered.promise
  }

  answer(responses: Readonly<Record<string, JsonObject>>): void {
    if (this.#place.at !== 'input_required') return
    let isNew = false
    for (const [key, response] of Object.entries(responses)) {
      const question = this.#questions.get(key)
      if (question === undefined) continue
      this.#questions.delete(key)
      this.#answers[question.name] = response
      isNew = true
    }
    if (!isNew) return
    if (this.#questions.size > 0) return this.#move('input_required')
    this.#hold(this.#parts.requestBytes)
    this.#move('working')
    this.#answered?.resolve(this.#answers)
  }

  /** `text` is the result as the call would have had it. */
  complete(text: string): void {
    if (this.isEnded) return
    if (!this.#hold(text.length)) {
      const message = 'the call was made, and there is no room to keep its result: read the results of tasks that have ended'
      return this.fail({ code: RPC_CODES.overloaded, message })
    }
    this.#finish('completed', { member: 'result', text })
  }

  fail(error: TaskError): void {
    if (this.isEnded) return
    this.#words = error.message
    const text = JSON.stringify(error)
    // A message is short; what came with it may not be, and is what can be left out.
    const kept = this.#hold(text.length)
      ? text
      : JSON.stringify({ code: error.code, message: error.message.slice(0, SHOWN_CHARS) })
    this.#finish('failed', { member: 'error', text: kept })
  }

  cancel(why: Error = new CallCancelled()): void {
    if (this.isEnded) return
    this.#hold(0)
    this.#words = why.message
    this.#finish('cancelled', undefined)
    this.#parts.stop(why)
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed)
    return () => this.#watchers.delete(changed)
  }

  #finish(status: End, end: EndText | undefined): void {
    const { now, limits, ended } = this.#parts
    this.#end = end
    this.#questions.clear()
    if (status === 'completed') this.#words = undefined
    const age = now() - this.#createdAt
    this.#ttlMs = Math.max(this.#ttlMs, age + limits.taskKeptMs)
    this.#move(status)
    this.#answered?.reject(new RpcError('internal_error', 'the task has ended'))
    ended(this.#ttlMs - age)
  }

  #move(to: TaskStatus): void {
    this.#place.to(to)
    this.#updatedAt = this.#parts.now()
    for (const changed of this.#watchers) changed()
  }

  #hold(bytes: number): boolean {
    if (!this.#parts.hold(bytes)) return false
    this.#bytes = bytes
    return true
  }

  #keyFor(name: string): string {
    let key = name
    for (let again = 2; this.#keys.has(key); again += 1) key = `${name}-${again}`
    this.#keys.add(key)
    return key
  }
}
const SHOWN_CHARS = 256
