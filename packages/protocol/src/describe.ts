import * as z from 'zod'
import { type JsonObject, isJsonObject } from './json.ts'
import type { AnswerSchema, ToolAnnotations, ToolSpec } from './tool.ts'

/** A tool as `tools/list` shows it. */
export interface ToolDescription {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  readonly annotations: ToolAnnotations
}

/** A tool of several roles, or of several servers in one process, is described once. */
const DESCRIBED = new WeakMap<ToolSpec, ToolDescription>()

/** Turns a declaration into what clients and the generated files show. Not cheap the first time: to be done when somebody asks. */
export function describeTool(spec: ToolSpec): ToolDescription {
  const known = DESCRIBED.get(spec)
  if (known !== undefined) return known
  const { title } = spec.annotations
  const described = {
    name: spec.name,
    ...(title === undefined ? {} : { title }),
    description: spec.doc,
    inputSchema: objectSchema(spec.input, 'input'),
    outputSchema: objectSchema(inOneObject(spec.output), 'output'),
    annotations: spec.annotations,
  }
  DESCRIBED.set(spec, described)
  return described
}

/** The JSON Schema of a document that is written and read as a file. */
export const describeDocument = (schema: z.ZodObject): JsonObject => objectSchema(schema, 'output')

/** JSON Schema 2020-12 of an object. Arguments are described as the caller writes them, with what may be left out. */
function objectSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  const made: unknown = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, target: 'draft-2020-12', override: soften })))
  if (!isJsonObject(made) || made['type'] !== 'object') throw new TypeError('a tool takes and gives objects')
  // 2020-12 is MCP's default; saying so makes validators that only know draft 7 refuse the tool.
  const { $schema: _dialect, ...body } = made
  return body
}

/** All answers of a tool as one object: at the root of a result MCP knows no other. What is not in each of them may be left out. */
function inOneObject(schema: AnswerSchema): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema
  const { options, def } = schema
  const fields = new Map<string, z.core.$ZodType>([[def.discriminator, z.boolean()]])
  for (const option of options)
    for (const [name, field] of Object.entries<z.core.$ZodType>(option.shape)) {
      if (name === def.discriminator) continue
      // In the order of the last answer that has it.
      fields.delete(name)
      fields.set(name, options.every((other) => name in other.shape) ? field : z.optional(field))
    }
  return z.object(Object.fromEntries(fields))
}

/** Those that JSON Schema 2020-12 names. Of any other validators warn; zod has some of its own, each with a pattern that says the same. */
const FORMATS: ReadonlySet<string> = new Set([
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'idn-email',
  'hostname',
  'idn-hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'iri',
  'iri-reference',
  'uuid',
  'uri-template',
  'json-pointer',
  'relative-json-pointer',
  'regex',
])

/**
 * A result may grow a field without breaking whoever kept the schema, so only `strictObject` closes an object.
 * Three kinds of noise go too: a pattern of 300 characters beside `date-time`, the bounds of a safe integer, and formats that nobody else knows.
 */
function soften({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (zodSchema._zod.def.type === 'object' && zodSchema._zod.def.catchall === undefined) delete jsonSchema.additionalProperties
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.format !== undefined && !FORMATS.has(jsonSchema.format)) delete jsonSchema.format
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}
