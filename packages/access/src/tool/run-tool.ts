import type { Logger } from 'pino'
import { ToolError, wrongArgument } from '@parley/protocol'
import { lineOf } from '../audit/line.ts'
import { oddText } from '../odd-text.ts'
import type { ServedTool, ToolContext, ToolWorld } from './served-tool.ts'
import { INTERNAL, argumentError, expectedError } from './tool-failure.ts'

/** What is told of a tool, whatever it works with. */
type Told = Pick<ServedTool, 'spec' | 'audit' | 'anyText'>

/** How a call of a tool ended. */
export type ToolOutcome =
  | { readonly kind: 'done'; readonly result: object }
  | { readonly kind: 'failed'; readonly error: ToolError }

/** Runs a tool and writes down who ran it. Synchronous when the tool is and only reads. */
export function runTool<World extends ToolWorld>(
  tool: ServedTool<World>,
  args: object,
  context: ToolContext<World>,
  log: Logger,
): ToolOutcome | Promise<ToolOutcome> {
  const odd = oddArgument(tool, args)
  if (odd !== undefined) return noted(tool, context, { kind: 'failed', error: odd })
  const parsed = tool.spec.input.safeParse(args)
  if (!parsed.success) return noted(tool, context, { kind: 'failed', error: argumentError(parsed.error) })
  const isDurable = tool.audit === undefined ? !tool.spec.annotations.readOnlyHint : tool.audit === 'durable'
  if (isDurable) return runDurably(tool, parsed.data, context, log)
  try {
    const result = tool.run(parsed.data, context)
    if (!(result instanceof Promise)) return noted(tool, context, { kind: 'done', result })
    return result.then(
      (value) => noted(tool, context, { kind: 'done', result: value }),
      (error: unknown) => noted(tool, context, failed(tool, context, error, log)),
    )
  } catch (error) {
    return noted(tool, context, failed(tool, context, error, log))
  }
}

/**
 * The log says `begun` before anything is changed, so that no change is without a trace even if we die right after it,
 * and so that nothing is changed while the log cannot be written.
 */
async function runDurably<World extends ToolWorld>(
  tool: ServedTool<World>,
  args: Record<string, unknown>,
  context: ToolContext<World>,
  log: Logger,
): Promise<ToolOutcome> {
  const { caller, world } = context
  try {
    await world.audit.record(lineOf(caller, tool.spec.name, { at: world.now(), outcome: 'ok', code: 'begun' }))
  } catch (error) {
    return failed(tool, context, error, log)
  }
  let outcome: ToolOutcome
  try {
    outcome = { kind: 'done', result: await tool.run(args, context) }
  } catch (error) {
    outcome = failed(tool, context, error, log)
  }
  // The line stays queued when this write fails, and `begun` is there: what was done is still answered.
  await world.audit.record(endLine(tool, context, outcome)).catch(() => undefined)
  return outcome
}

/** Texts that no database could keep are refused here for every tool, so that none has to think of them. */
function oddArgument({ anyText }: Told, args: object): ToolError | undefined {
  const looked =
    anyText === undefined ? args : Object.fromEntries(Object.entries(args).filter(([name]) => !anyText.includes(name)))
  const odd = oddText(looked)
  if (odd === undefined) return undefined
  const { field, fault } = odd
  return field === '' ? new ToolError('invalid_argument', `the arguments: ${fault}`) : wrongArgument(field, fault)
}

function noted(tool: Told, context: ToolContext, outcome: ToolOutcome): ToolOutcome {
  if (tool.audit !== 'failures' || outcome.kind === 'failed') context.world.audit.note(endLine(tool, context, outcome))
  return outcome
}

function endLine(tool: Told, { caller, world, target }: ToolContext, outcome: ToolOutcome) {
  return lineOf(caller, tool.spec.name, {
    at: world.now(),
    outcome: outcome.kind === 'done' ? 'ok' : outcome.error.code === 'forbidden' ? 'denied' : 'failed',
    ...(outcome.kind === 'failed' ? { code: outcome.error.code } : {}),
    ...(target === undefined ? {} : { target }),
  })
}

function failed(tool: Told, { caller }: ToolContext, error: unknown, log: Logger): ToolOutcome {
  const expected = expectedError(error)
  if (expected === undefined) log.error({ err: error, tool: tool.spec.name, role: caller.role, key: caller.key }, 'a tool failed')
  return { kind: 'failed', error: expected ?? INTERNAL }
}
