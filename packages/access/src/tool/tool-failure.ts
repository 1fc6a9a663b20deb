import type * as z from 'zod'
import { TOOL_ERROR_META, ToolError, type ToolErrorBody, ToolErrorCode, wrongArgument } from '@parley/protocol'
import { JsonText } from '@parley/rpc'
import { AlreadyExists, InvalidArgument, StoreError, StoreUnavailable, TooLarge, unavailableWords } from '@parley/store'
import { AuditUnavailable } from '../audit/recorder.ts'
import { LanesFull } from '../limit/lanes.ts'

/** The first thing that is wrong with the arguments, by the name of its field. */
export function argumentError(error: z.ZodError): ToolError {
  const issue = error.issues[0]
  const path = (issue?.path ?? []).map(String)
  if (issue?.code === 'unrecognized_keys') path.push(String(issue.keys[0]))
  const field = path.join('.')
  const fault = issue?.code === 'unrecognized_keys' ? 'is not an argument of this tool' : (issue?.message ?? 'is wrong')
  return field === '' ? new ToolError('invalid_argument', fault) : wrongArgument(field, fault)
}

/** What somebody is told about a failure; `undefined` for a fault of ours, which is told nobody but the log. */
export function expectedError(error: unknown): ToolError | undefined {
  if (error instanceof ToolError) return error
  if (error instanceof LanesFull) return new ToolError('rate_limited', error.message, { hint: 'try again shortly', cause: error })
  if (error instanceof AuditUnavailable || error instanceof StoreUnavailable)
    return new ToolError('unavailable', `${unavailableWords(error)}; what was asked may not have been done`, {
      hint: 'look before you try again',
      cause: error,
    })
  if (!(error instanceof StoreError)) return undefined
  if (error instanceof TooLarge) return new ToolError('invalid_argument', error.message, { hint: 'send less', cause: error })
  const code = ToolErrorCode.safeParse(error.code)
  const named = error instanceof InvalidArgument || error instanceof AlreadyExists ? error.field : undefined
  const field = named === undefined ? {} : { field: named }
  return code.success ? new ToolError(code.data, error.message, { ...field, cause: error }) : undefined
}

export const INTERNAL = new ToolError('internal', 'something went wrong on our side; the log says what')

/** A failed call: `isError`, the text `code: message`, and the same for programs under `_meta`. */
export function failureText(error: ToolError): JsonText {
  const body: ToolErrorBody = { code: error.code, message: error.message }
  if (error.field !== undefined) body.field = error.field
  if (error.hint !== undefined) body.hint = error.hint
  const text = JSON.stringify(`${error.code}: ${error.message}`)
  return new JsonText(`{"content":[{"type":"text","text":${text}}],"isError":true}`, { [TOOL_ERROR_META]: body })
}
