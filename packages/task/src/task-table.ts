import { randomBytes } from 'node:crypto'
import { Task, type TaskOwner } from './task.ts'
import type { TaskLimits } from './task-limits.ts'

const ID_BYTES = 24

/** A call that is to go on as a task. */
export interface TaskStart {
  readonly owner: TaskOwner
  readonly words: string | undefined
  readonly requestBytes: number
  /** Ends the work. */
  readonly stop: (why: Error) => void
  /** Called once it has ended or is forgotten, whichever is first. */
  readonly over: () => void
}

interface Entry {
  readonly task: Task
  timer: NodeJS.Timeout
}

/** The tasks of one process. Bounded in number, bytes and time; each is found by the key alone that it was made with. */
export class TaskTable {
  readonly #limits: TaskLimits
  readonly #now: () => number
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>()
  /** What each person has. Counted as it changes: a full table must not cost whoever comes next. */
  readonly #people = new Map<string, { readonly tasks: number; readonly bytes: number }>()
  #bytes = 0

  constructor(limits: TaskLimits, now: () => number = Date.now) {
    this.#limits = limits
    this.#now = now
  }

  get size(): number {
    return this.#entries.size
  }

  /** `undefined` where there is no room: then the call goes on as a call. */
  open(start: TaskStart): Task | undefined {
    const { tasks, tasksPerCaller, taskMs } = this.#limits
    const { person } = start.owner
    if (!this.#makeRoom(() => this.#of(person).tasks < tasksPerCaller, person)) return undefined
    if (!this.#makeRoom(() => this.#entries.size < tasks)) return undefined
    if (!this.#fits(person, start.requestBytes)) return undefined
    const id = `task_${randomBytes(ID_BYTES).toString('base64url')}`
    const task = new Task({
      id,
      owner: start.owner,
      words: start.words,
      requestBytes: start.requestBytes,
      limits: this.#limits,
      now: this.#now,
      hold: (bytes) => {
        const more = bytes - task.bytes
        if (more > 0 && !this.#fits(person, more)) return false
        this.#count(person, 0, more)
        return true
      },
      stop: start.stop,
      ended: (keptMs) => {
        this.#expireIn(id, keptMs)
        start.over()
      },
    })
    this.#entries.set(id, { task, timer: this.#timer(id, taskMs) })
    this.#count(person, 1, task.bytes)
    return task
  }

  find(id: string, key: string): Task | undefined {
    const task = this.#entries.get(id)?.task
    return task?.owner.key === key ? task : undefined
  }

  /** As if it had never been: its owner may not come back, or its time is up. What works is stopped. */
  forget(id: string, reason: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    entry.task.cancel(new Error(reason))
    clearTimeout(entry.timer)
    this.#entries.delete(id)
    this.#count(entry.task.owner.person, -1, -entry.task.bytes)
  }

  #expireIn(id: string, ms: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    clearTimeout(entry.timer)
    entry.timer = this.#timer(id, ms)
  }

  #timer(id: string, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.forget(id, 'the task took too long'), ms).unref()
  }

  #of(person: string): { readonly tasks: number; readonly bytes: number } {
    return this.#people.get(person) ?? { tasks: 0, bytes: 0 }
  }

  #count(person: string, tasks: number, bytes: number): void {
    const had = this.#of(person)
    const has = { tasks: had.tasks + tasks, bytes: had.bytes + bytes }
    this.#bytes += bytes
    if (has.tasks === 0) this.#people.delete(person)
    else this.#people.set(person, has)
  }

  #fits(person: string, bytes: number): boolean {
    const { taskBytes, taskBytesPerCaller } = this.#limits
    return (
      this.#makeRoom(() => this.#of(person).bytes + bytes <= taskBytesPerCaller, person) &&
      this.#makeRoom(() => this.#bytes + bytes <= taskBytes)
    )
  }

  /** Forgets what has ended and was told to its client, the oldest first, of one person or of all, until there is room. */
  #makeRoom(hasRoom: () => boolean, person?: string): boolean {
    for (const [id, { task }] of this.#entries) {
      if (hasRoom()) return true
      if (task.isEnded && task.isGiven && (person === undefined || task.owner.person === person)) this.forget(id, 'it made room')
    }
    return hasRoom()
  }
}
