import { type JsonObject, isJsonObject } from '@parley/protocol'
import { checkParams } from '../params/param-check.ts'
import type { CodexVersion } from '../version/version.ts'
import { servesOf } from '../version/version-support.ts'
import type { Explanation, Refusal } from './explain.ts'
import type { AskedRequest } from './read-request.ts'
import type { Rewrite } from './step.ts'

const TOOLS: Readonly<Record<string, readonly string[]>> = { codex: ['prompt'], 'codex-reply': ['prompt'] }

/** The same for a call of the tools `codex` and `codex-reply`. */
export function explainTool({ params = {} }: AskedRequest, version: CodexVersion, start: Explanation): Explanation {
  const { name } = params
  const args = isJsonObject(params['arguments']) ? params['arguments'] : {}
  const needed = typeof name === 'string' && Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined
  if (typeof name !== 'string' || needed === undefined) {
    const message = `params.name must be codex or codex-reply, not ${JSON.stringify(name ?? null)}`
    return { ...start, refusals: [refusal('bad_params', 'params.name', message, 'name one of the two tools')] }
  }
  const { problems } = checkParams(`tool:${name}`, args, version, 'wire')
  const isServed = servesOf(version)?.mcpServer !== null
  // Where Codex serves the tools no more, ours does, and takes what any version took.
  const lacking = isServed ? problems.filter(({ severity }) => severity === 'error') : []
  const refusals = [
    ...needed.filter((param) => typeof args[param] !== 'string').map(missing),
    ...lacking.map(({ param, message }) =>
      refusal('lacking_param', `params.arguments.${param}`, message, `leave ${param} out, or use a version that takes it`),
    ),
    ...(name === 'codex-reply' ? missingThread(args) : []),
  ]
  const notes = [...start.notes, ...problems.filter(({ severity }) => severity === 'warning').map(({ message }) => message)]
  if (refusals.length > 0) return { ...start, refusals, notes }
  const sent = { method: 'tools/call', params }
  if (isServed) return { ...start, verdict: 'accepted', sent, notes }
  const why = 'Codex has no MCP server since 0.154; parley mcp-server serves the tool on threads and turns'
  const step: Rewrite = {
    field: 'method',
    from: 'tools/call',
    to: name === 'codex' ? 'thread/start, turn/start' : 'turn/start',
    why,
  }
  return { ...start, verdict: 'translated', steps: [step], notes }
}

function missing(param: string): Refusal {
  const field = `params.arguments.${param}`
  return refusal('bad_params', field, `${field} must be a string`, `put ${param} in`)
}

function missingThread(args: JsonObject): readonly Refusal[] {
  if (typeof args['threadId'] === 'string' || typeof args['conversationId'] === 'string') return []
  const field = 'params.arguments.threadId'
  return [
    refusal('bad_params', field, `${field} must be a string`, 'name the conversation: threadId, or conversationId before 0.140'),
  ]
}

const refusal = (code: Refusal['code'], field: string, message: string, change: string): Refusal => ({
  code,
  field,
  message,
  change,
})
