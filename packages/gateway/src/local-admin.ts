import { localCaller, runTool } from '@parley/access'
import { type RandomBytes, type ToolInput, type ToolName, type ToolOutput, Meter, TOOLS } from '@parley/protocol'
import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import { DEFAULT_CALLS, DEFAULT_SIGN_IN } from './options.ts'
import { BUILT_IN_TOOLS } from './tools.ts'
import { openWorld } from './world.ts'

/** The tools without a gateway, for whoever may open the store anyway. Audited like any other call, as `local`. */
export interface LocalAdmin {
  /** Throws `ToolError`. */
  call<Name extends ToolName>(name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>>
  /** Writes down what is left. The store stays open: it is the caller's. */
  close(): Promise<void>
}

export function openLocalAdmin(options: {
  readonly store: Store
  /** Where people reach the gateway, for one-time links. */
  readonly baseUrl: string
  readonly log: Logger
  readonly now: () => number
  readonly random: RandomBytes
}): LocalAdmin {
  const { store, baseUrl, log, now, random } = options
  const world = openWorld({ store, log, now, random, signInRates: DEFAULT_SIGN_IN, baseUrl: () => baseUrl })
  const caller = localCaller(new Meter(DEFAULT_CALLS, now))
  return {
    async call(name, input) {
      const outcome = await runTool(BUILT_IN_TOOLS[name], input, { caller, call: undefined, world }, log)
      if (outcome.kind === 'failed') throw outcome.error
      const result: unknown = outcome.result
      if (!isOutputOf(name, result)) throw new TypeError(`${name} answered something else than it declares`)
      return result
    },
    async close() {
      await world.directory.close()
      await world.audit.close()
    },
  }
}

function isOutputOf<Name extends ToolName>(name: Name, result: unknown): result is ToolOutput<Name> {
  return TOOLS[name].output.safeParse(result).success
}
