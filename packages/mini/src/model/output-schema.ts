import type { JsonObject } from '@parley/protocol'
import type { ModelRequest } from './model.ts'
import { fitsStrict } from './strict-schema.ts'
import type { OptionalField, Tolerance } from './tolerance.ts'

const SCHEMA_NAME = 'answer'

/** The schema of the last message as either wire wraps it. `undefined`: none is asked for, or the provider knows no such thing. */
export function outputFormat(request: ModelRequest, tolerance: Tolerance, field: OptionalField): JsonObject | undefined {
  if (request.outputSchema === undefined || tolerance.leavesOut(field)) return undefined
  const strict = fitsStrict(request.outputSchema) && !tolerance.isOutputLoose
  return { name: SCHEMA_NAME, schema: request.outputSchema, strict }
}

/** The instructions, with the schema in words where it cannot be said otherwise. */
export function instructionsWith(request: ModelRequest, tolerance: Tolerance, field: OptionalField): string {
  if (request.outputSchema === undefined || !tolerance.leavesOut(field)) return request.instructions
  const words = `When you are done, answer with one JSON document and nothing else. It fits this JSON Schema:\n${JSON.stringify(request.outputSchema)}`
  return request.instructions === '' ? words : `${request.instructions}\n\n${words}`
}
