import { isJsonObject, type JsonObject } from '@parley/protocol/wire'
import type { InputRequest } from '../service.ts'

/** Which capability the client must have declared to be asked this; `undefined` when it has. */
export function missingCapability(capabilities: JsonObject, request: InputRequest): JsonObject | undefined {
  switch (request.method) {
    case 'roots/list':
      return capabilities['roots'] === undefined ? { roots: {} } : undefined
    case 'sampling/createMessage': {
      const { sampling } = capabilities
      if (!isJsonObject(sampling)) return { sampling: {} }
      return request.params?.['tools'] !== undefined && sampling['tools'] === undefined ? { sampling: { tools: {} } } : undefined
    }
    case 'elicitation/create': {
      const { elicitation } = capabilities
      const mode = request.params?.['mode'] === 'url' ? 'url' : 'form'
      if (!isJsonObject(elicitation)) return { elicitation: { [mode]: {} } }
      const formOnly = elicitation['form'] === undefined && elicitation['url'] === undefined
      return elicitation[mode] !== undefined || (formOnly && mode === 'form') ? undefined : { elicitation: { [mode]: {} } }
    }
    default:
      return request.method satisfies never
  }
}
