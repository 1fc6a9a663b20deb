import { type TurnEnd, gatewayFailure } from '@parley/agent'
import { type JobError, isJsonObject, parseJson } from '@parley/protocol'

/** What may be over by itself after a while. */
const PASSING: ReadonlySet<string> = new Set(['model_overloaded', 'model_unavailable', 'model_timeout'])

/** Why a turn failed, as the job's failure is called. An engine that hands on the gateway's answer as it came is read again. */
export function turnError({ code, message }: Extract<TurnEnd, { kind: 'failed' }>): JobError {
  const told = gatewayError(message)
  if (told !== undefined) return told
  return { code: code === 'internal' ? 'generate_failed' : code, message }
}

/** The same with what a person can do about it, where waiting is all, or what comes after mending what the message names. */
export function advised({ code, message }: JobError, jobId: string): JobError {
  if (code === 'model_unreachable') return { code, message: `${message}; once that is mended: parley job retry ${jobId}` }
  return PASSING.has(code) ? { code, message: `${message}; try again later: parley job retry ${jobId}` } : { code, message }
}

/** `unexpected status 424 Failed Dependency: {"error":{…}}` is how Codex says it. */
function gatewayError(message: string): JobError | undefined {
  const start = message.indexOf('{"error"')
  if (start < 0) return undefined
  const body = parseJson(message.slice(start, message.lastIndexOf('}') + 1))
  const error = isJsonObject(body) ? body['error'] : undefined
  if (!isJsonObject(error) || typeof error['code'] !== 'string' || typeof error['message'] !== 'string') return undefined
  const code = gatewayFailure(error['code'])
  return code === undefined ? undefined : { code, message: error['message'] }
}
