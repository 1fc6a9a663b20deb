import { createLogger, type GatewayCaller, type Recorder, runTool } from '@parley/access'
import { type RandomBytes, TOOLS, type ToolInput, type ToolName, type ToolOutput } from '@parley/protocol'
import type { Call } from '@parley/rpc'
import type { Store } from '@parley/store'
import { DEFAULT_SIGN_IN } from '../options.ts'
import { BUILT_IN_TOOLS } from '../tools.ts'
import { openWorld } from '../world.ts'

/** The tools of one gateway without its doors: whoever calls says who they are. */
export interface ToolDesk {
  /** Throws `ToolError`. */
  call<Name extends ToolName>(
    name: Name,
    input: ToolInput<Name>,
    from: { readonly caller: GatewayCaller; readonly call: Call<GatewayCaller> | undefined },
  ): Promise<ToolOutput<Name>>
}

/** Writes nothing down: the real one does so by timers of its own. */
const NO_AUDIT: Recorder = {
  note: () => {},
  record: () => Promise.resolve(),
  flush: () => Promise.resolve(),
  counts: () => ({ waiting: 0, dropped: 0, failures: 0 }),
  close: () => Promise.resolve(),
}

const log = createLogger({ level: 'silent', destination: { write: () => {} } })

/** Opens no socket and begins no timer, so that one process may hold many of them, and drop them as if they were killed. */
export function openToolDesk(options: {
  readonly store: Store
  readonly now: () => number
  readonly random: RandomBytes
  readonly mountKey: Uint8Array
}): ToolDesk {
  const { mountKey } = options
  const opened = openWorld({ ...options, log, signInRates: DEFAULT_SIGN_IN, baseUrl: () => '', agents: { mountKey } })
  void opened.audit.close()
  const world = { ...opened, audit: NO_AUDIT }
  return {
    async call(name, input, { caller, call }) {
      const outcome = await runTool(BUILT_IN_TOOLS[name], input, { caller, call, world }, log)
      if (outcome.kind === 'failed') throw outcome.error
      const result: unknown = outcome.result
      if (!isOutputOf(name, result)) throw new TypeError(`${name} answered something else than it declares`)
      return result
    },
  }
}

function isOutputOf<Name extends ToolName>(name: Name, result: unknown): result is ToolOutput<Name> {
  return TOOLS[name].output.safeParse(result).success
}
