import type { ModelWire } from '@parley/protocol'
import { ModelRefusal } from './refusal.ts'

/** What is served below `/v1`, by method and path. */
const ENDPOINTS: ReadonlyMap<string, ModelWire | 'models'> = new Map([
  ['POST /v1/responses', 'responses'],
  ['POST /v1/chat/completions', 'chat'],
  ['GET /v1/models', 'models'],
])

export function endpointAt(method: string, path: string): ModelWire | 'models' {
  const endpoint = ENDPOINTS.get(`${method} ${path}`)
  if (endpoint !== undefined) return endpoint
  throw new ModelRefusal(404, 'unknown_url', `there is only ${[...ENDPOINTS.keys()].join(', ')}`, { closes: method !== 'GET' })
}

/** A channel speaks one wire; a request on the other would only fail upstream. */
export function checkWire(asked: ModelWire, spoken: ModelWire): void {
  if (asked === spoken) return
  const path = spoken === 'responses' ? '/v1/responses' : '/v1/chat/completions'
  throw new ModelRefusal(400, 'wrong_wire', `this model is asked by POST ${path}`, { closes: true })
}
