import type { JsonValue } from '@parley/protocol'
import { RemoteFailure, type WireId } from '@parley/rpc/line-peer'
import { failureOf, unknownMethod } from './answer-error.ts'
import type { App } from './app.ts'
import { REQUESTS_MAX } from './bounds.ts'
import type { Method } from './method/method.ts'
import { checkGates } from './param-gates.ts'

/** Finds the method of a request, and sees to it that answers and what follows them go out in order. */
export class Dispatch {
  readonly #app: App
  readonly #methods: ReadonlyMap<string, Method>
  readonly #sequence = new Sequence()
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(app: App, methods: Readonly<Record<string, Method>>) {
    this.#app = app
    this.#methods = new Map(Object.entries(methods).filter(([, { dialects }]) => dialects.includes(app.dialect.name)))
  }

  /** Throws `RemoteFailure` alone. */
  async answer(name: string, params: JsonValue | undefined, id: WireId): Promise<JsonValue> {
    if (this.#underWay.size >= REQUESTS_MAX)
      throw new RemoteFailure('invalid_request', `${REQUESTS_MAX} requests are being answered: wait for some of them`)
    const work = this.#inTurn(name, params, id)
    this.#underWay.add(work)
    try {
      return await work
    } catch (error) {
      throw this.#failure(name, error)
    } finally {
      this.#underWay.delete(work)
    }
  }

  /** Settles when no request is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  async #inTurn(name: string, params: JsonValue | undefined, id: WireId): Promise<JsonValue> {
    const leave = await this.#sequence.enter()
    const answered = new Answered()
    try {
      const method = this.#methods.get(name)
      if (method?.isDetached) leave()
      if (name !== 'initialize') this.#app.handshake.expectBegun()
      if (method === undefined) throw unknownMethod(name, [...this.#methods.keys()], this.#app.dialect)
      checkGates(name, params, this.#app)
      return await method.run(params, {
        app: this.#app,
        id,
        method: name,
        get answered() {
          return answered.promise
        },
      })
    } finally {
      answered.settle(leave)
    }
  }

  #failure(name: string, error: unknown): RemoteFailure {
    const known = failureOf(error, this.#app.dialect)
    if (known !== undefined) return known
    const [kind, message] = error instanceof Error ? [error.name, error.message] : ['Error', String(error)]
    this.#app.notes.say(`${name} failed: ${kind}`)
    return new RemoteFailure('internal_error', `internal error: ${message}`, { code: 'internal' })
  }
}

/**
 * Requests one after the other, as Codex handles them: a client that sends two at once may count on the first having
 * been done. A place that is given up early lets the next one go.
 */
class Sequence {
  #last: Promise<void> = Promise.resolve()

  /** Settles when it is one's turn; call the result when the next one may go. */
  async enter(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}

/** When the answer to one request has gone out. Nobody is made to wait unless somebody asks. */
class Answered {
  #wanted: PromiseWithResolvers<void> | undefined

  get promise(): Promise<void> {
    this.#wanted ??= Promise.withResolvers<void>()
    return this.#wanted.promise
  }

  /** The answer is written before the next round of the event loop. */
  settle(then: () => void): void {
    if (this.#wanted === undefined) return then()
    setImmediate(() => {
      this.#wanted?.resolve()
      then()
    })
  }
}
