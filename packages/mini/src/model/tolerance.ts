import { type JsonObject, isJsonObject } from '@parley/protocol'
import type { ModelRequest, ModelTool } from './model.ts'
import type { ProviderError } from './provider-error.ts'

/** Parts of a request that not every provider knows, the narrower before the wider. */
const OPTIONAL_FIELDS = [
  'reasoning.summary',
  'reasoning.effort',
  'reasoning_effort',
  'reasoning_content',
  'reasoning',
  'include',
  'text.format',
  'response_format',
  'stream_options',
  'prompt_cache_key',
  'parallel_tool_calls',
  'tool_choice',
  'max_output_tokens',
  'max_completion_tokens',
  'strict',
] as const
export type OptionalField = (typeof OPTIONAL_FIELDS)[number]

/** English words too: in a sentence they mean the field only between quotes. */
const COMMON_WORDS: ReadonlySet<string> = new Set(['reasoning', 'include', 'strict'])
const COMPLAINT =
  /unsupported|not supported|support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|extra (fields|inputs)|invalid|unavailable|must be verified|deprecated/i

const TOOL_SCHEMA = /schema for function ['"`]([\w-]+)/i
const TOOL_PARAM = /^tools(?:\[|\.)(\d+)/
/** The provider does not know the field `strict` at all, which is not the same as refusing a schema as strict. */
const isAboutStrictField = ({ param }: ProviderError): boolean => param !== null && /(^|\.)strict$/.test(param)

/** What one provider turned out not to know about one model. It only grows. */
export class Tolerance {
  readonly #left = new Set<OptionalField>()
  readonly #loose = new Set<string>()
  #isOutputLoose = false

  /** It changes whenever something was learned. */
  get version(): number {
    return this.#left.size + this.#loose.size + (this.#isOutputLoose ? 1 : 0)
  }

  /** All of it by name: fields, and tools that are not strict here. */
  get leftOut(): readonly string[] {
    const tools = [...this.#loose].map((name) => `strict of the tool ${name}`)
    return [...this.#left, ...tools, ...(this.#isOutputLoose ? ['strict of the output schema'] : [])]
  }

  leavesOut(field: OptionalField): boolean {
    return this.#left.has(field)
  }

  isStrict({ name, strict }: ModelTool): boolean {
    return strict && !this.#loose.has(name)
  }

  get isOutputLoose(): boolean {
    return this.#isOutputLoose
  }

  /** Learns from a refusal; `body` is what was refused, which others may have taught us about meanwhile. The words say what will be different next time; `undefined`: nothing can be. */
  learn(error: ProviderError, request: ModelRequest, body: JsonObject): string | undefined {
    if (error.status !== 400 && error.status !== 422) return undefined
    const isAboutTool = TOOL_SCHEMA.test(error.message) || TOOL_PARAM.test(error.param ?? '')
    if (isAboutTool && !isAboutStrictField(error)) return this.#learnTool(error, request, body)
    return this.#learnOutput(error, body) ?? this.#learnField(error, body) ?? this.#learnTool(error, request, body)
  }

  #learnTool(error: ProviderError, { tools }: ModelRequest, body: JsonObject): string | undefined {
    const named = TOOL_SCHEMA.exec(error.message)?.[1]
    const index = TOOL_PARAM.exec(error.param ?? '')?.[1]
    const tool = tools.find((one, at) => one.name === named || (named === undefined && at === Number(index ?? Number.NaN)))
    if (tool !== undefined) {
      if (!isStrictIn(body, tool.name)) return undefined
      this.#loose.add(tool.name)
      return `the tool ${tool.name} without strict`
    }
    const strict = tools.filter(({ name }) => isStrictIn(body, name))
    if (strict.length === 0 || !/strict|invalid_function_parameters/i.test(`${error.message} ${error.code ?? ''}`))
      return undefined
    for (const one of strict) this.#loose.add(one.name)
    return 'all tools without strict'
  }

  #learnOutput(error: ProviderError, body: JsonObject): string | undefined {
    if (!isStrictOutput(body)) return undefined
    if (!/schema for response_format|invalid_json_schema|^(text\.format|response_format)\.(json_)?schema/i.test(allOf(error)))
      return undefined
    this.#isOutputLoose = true
    return 'the output schema without strict'
  }

  #learnField(error: ProviderError, body: JsonObject): string | undefined {
    const field = OPTIONAL_FIELDS.find((one) => isIn(body, one) && isMeant(one, error))
    if (field === undefined) return undefined
    this.#left.add(field)
    return `without ${field}`
  }
}

const allOf = ({ param, code, message }: ProviderError): string => [param, code, message].join('\n')

function isMeant(field: OptionalField, { param, message }: ProviderError): boolean {
  if (param !== null && isSameField(field, param)) return true
  if (field === 'strict' && param?.endsWith('.strict') === true) return true
  if (!COMPLAINT.test(message)) return false
  const escaped = field.replace('.', '\\.')
  const pattern = COMMON_WORDS.has(field) ? `['"\`]${escaped}['"\`]` : `(^|[^\\w.])${escaped}($|[^\\w])`
  return new RegExp(pattern, 'i').test(message)
}

/** `text.format.type` complains about `text.format`, and so does `text`. */
const isSameField = (field: OptionalField, param: string): boolean =>
  param === field ||
  param.startsWith(`${field}.`) ||
  param.startsWith(`${field}[`) ||
  (field === 'text.format' && param === 'text')

function isIn(body: JsonObject, field: OptionalField): boolean {
  if (field === 'strict' || field === 'reasoning_content') return JSON.stringify(body).includes(`"${field}":`)
  return field.split('.').reduce<unknown>((value, part) => (isJsonObject(value) ? value[part] : undefined), body) !== undefined
}

function isStrictOutput(body: JsonObject): boolean {
  const format = isJsonObject(body['text']) ? body['text']['format'] : body['response_format']
  if (!isJsonObject(format)) return false
  return format['strict'] === true || (isJsonObject(format['json_schema']) && format['json_schema']['strict'] === true)
}

function isStrictIn(body: JsonObject, name: string): boolean {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject) : []
  const functions = tools.map((tool) => (isJsonObject(tool['function']) ? tool['function'] : tool))
  return functions.some((tool) => tool['name'] === name && tool['strict'] === true)
}
