import { CallCancelled, isJsonObject, type JsonObject, parseJson, RpcError } from '@parley/protocol/wire'
import type { Task } from './task.ts'
import type { TaskLimits } from './task-limits.ts'
import type { TaskTable } from './task-table.ts'

/** The part of an abort signal that is needed to know that whoever asked is gone. */
interface Gone {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** How one round ends. `again`: the client is to ask once more, with the answers to these questions. */
export type RoundEnd =
  | { readonly kind: 'again'; readonly questions: Readonly<Record<string, JsonObject>> }
  | { readonly kind: 'result'; readonly result: JsonObject }

interface Seat {
  /** Requests that wait for it now: a client that lost its connection asks again before the first one is known to be gone. */
  attending: number
  away: NodeJS.Timeout | undefined
}

/**
 * Held calls of clients that take no tasks: each request is answered before its client's time is up, and the next one finds the call by its id. A
 * call whose client does not ask again in time is cut off, as one whose connection has gone.
 */
export class Rounds {
  readonly #tasks: TaskTable
  readonly #limits: Pick<TaskLimits, 'roundMs' | 'roundAwayMs'>
  readonly #seats = new Map<string, Seat>()

  constructor(tasks: TaskTable, limits: Pick<TaskLimits, 'roundMs' | 'roundAwayMs'>) {
    this.#tasks = tasks
    this.#limits = limits
  }

  get roundMs(): number {
    return this.#limits.roundMs
  }

  /** The client has been told to ask again. */
  begin({ id }: Task): void {
    this.#leave(id, this.#seatOf(id))
  }

  /** Another round of a call that this key has begun. Throws what the call has failed with. */
  async next(id: string, key: string, answers: Readonly<Record<string, JsonObject>>, gone: Gone): Promise<RoundEnd> {
    const task = this.#tasks.find(id, key)
    if (task === undefined)
      throw new RpcError('invalid_params', 'requestState names a call that is over: send the call again without it', {
        field: 'requestState',
      })
    const seat = this.#seatOf(id)
    clearTimeout(seat.away)
    seat.attending += 1
    try {
      task.answer(answers)
      await this.#news(task, gone)
      if (gone.aborted && gone.reason instanceof CallCancelled) task.cancel(gone.reason)
      return this.#endOf(task)
    } finally {
      seat.attending -= 1
      if (seat.attending === 0) this.#leave(id, seat)
    }
  }

  /** What has ended is kept for a while, too: the answer may not have arrived. */
  #leave(id: string, seat: Seat): void {
    clearTimeout(seat.away)
    seat.away = setTimeout(() => {
      this.#seats.delete(id)
      this.#tasks.forget(id, 'its client did not ask again')
    }, this.#limits.roundAwayMs).unref()
  }

  #seatOf(id: string): Seat {
    const known = this.#seats.get(id)
    if (known !== undefined) return known
    const seat: Seat = { attending: 0, away: undefined }
    this.#seats.set(id, seat)
    return seat
  }

  /** Settles when there is something to say, or nobody to say it to. */
  #news(task: Task, gone: Gone): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const isNews = (): boolean => task.isEnded || Object.keys(task.questions).length > 0
    const look = (): void => {
      if (isNews()) resolve()
    }
    const leave = (): void => resolve()
    const unwatch = task.watch(look)
    const timer = setTimeout(leave, this.#limits.roundMs).unref()
    gone.addEventListener('abort', leave)
    if (gone.aborted) leave()
    look()
    return promise.finally(() => {
      unwatch()
      clearTimeout(timer)
      gone.removeEventListener('abort', leave)
    })
  }

  #endOf(task: Task): RoundEnd {
    if (!task.isEnded) return { kind: 'again', questions: task.questions }
    const { end } = task
    const value = end === undefined ? undefined : parseJson(end.text)
    if (end === undefined || !isJsonObject(value)) throw new RpcError('internal_error', 'the call was ended')
    if (end.member === 'error') throw errorOf(value)
    return { kind: 'result', result: value }
  }
}

function errorOf({ code, message, data }: JsonObject): RpcError {
  const words = typeof message === 'string' ? message : 'Internal error'
  return new RpcError(typeof code === 'number' ? code : 'internal_error', words, data)
}
