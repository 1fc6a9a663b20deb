import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type * as z from 'zod'
import type { WireId } from '@parley/rpc/line-peer'
import { BadParams, badParams } from '../answer-error.ts'
import type { App } from '../app.ts'
import { APP_DIALECTS, type AppDialect } from '../app-server-options.ts'

/** One request that is being answered. */
export interface Asked {
  readonly app: App
  readonly id: WireId
  readonly method: string
  /** Settles when the answer, whichever it is, has gone out. */
  readonly answered: Promise<void>
}

/** One method of the wire. */
export interface Method {
  readonly dialects: readonly AppDialect[]
  /** Requests behind it need not wait for its end. */
  readonly isDetached: boolean
  run(params: JsonValue | undefined, asked: Asked): Promise<JsonValue>
}

type Run<P> = (params: P, asked: Asked) => Promise<JsonObject> | JsonObject

interface MethodOptions {
  readonly dialects?: readonly AppDialect[]
  readonly isDetached?: boolean
}

/** A method that takes an object. */
export function method<S extends z.ZodType>(schema: S, run: Run<z.output<S>>, options: MethodOptions = {}): Method {
  return {
    dialects: options.dialects ?? APP_DIALECTS,
    isDetached: options.isDetached ?? false,
    run: async (params, asked) => {
      if (params === undefined || params === null) throw new BadParams('', 'are missing: an object is needed')
      const parsed = schema.safeParse(params)
      if (!parsed.success) throw badParams(parsed.error)
      return run(parsed.data, asked)
    },
  }
}

/** A method that takes nothing: no params, null, or an empty object; some dialects do not look at them. */
export function bareMethod(run: (asked: Asked) => Promise<JsonObject> | JsonObject): Method {
  return {
    dialects: APP_DIALECTS,
    isDetached: false,
    run: async (params, asked) => {
      const isNothing = params === undefined || params === null || (isJsonObject(params) && Object.keys(params).length === 0)
      if (!isNothing && !asked.app.dialect.readsOverParams) throw new BadParams('', 'must be left out: this method takes none')
      return run(asked)
    },
  }
}
