import { type ResourceSpec, RpcError, ToolError } from '@parley/protocol'
import type { ServedResource } from './served-resource.ts'

/** A variable of a URI template. Two per template are enough so far; more would need names. */
const VARIABLE = /\{[a-z_]+\}/
/** What a variable may stand for: one segment of the path. */
const SEGMENT = '([^/?#]{1,64})'

interface Template<World> {
  readonly resource: ServedResource<World>
  readonly pattern: RegExp
}

/** Finds resources by URI: those with a fixed one at once, the others by their templates. */
export class ResourceTable<World> {
  /** As `resources/list` and `resources/templates/list` show them. */
  readonly listed: readonly object[]
  readonly templates: readonly object[]
  readonly #fixed: ReadonlyMap<string, ServedResource<World>>
  readonly #templates: readonly Template<World>[]

  constructor(resources: readonly ServedResource<World>[]) {
    const isTemplate = ({ spec }: ServedResource<World>) => VARIABLE.test(spec.uri)
    const fixed = resources.filter((resource) => !isTemplate(resource))
    const templates = resources.filter(isTemplate)
    this.#fixed = new Map(fixed.map((resource) => [resource.spec.uri, resource]))
    this.#templates = templates.map((resource) => ({ resource, pattern: patternOf(resource.spec.uri) }))
    this.listed = fixed.map(({ spec }) => ({ uri: spec.uri, ...about(spec) }))
    this.templates = templates.map(({ spec }) => ({ uriTemplate: spec.uri, ...about(spec) }))
  }

  /** The resource behind a URI and what stands for its variables; throws the protocol's "not found". */
  find(uri: string): { readonly resource: ServedResource<World>; readonly id: string; readonly part: string } {
    const fixed = this.#fixed.get(uri)
    if (fixed !== undefined) return { resource: fixed, id: '', part: '' }
    for (const { resource, pattern } of this.#templates) {
      const [, id, part = ''] = pattern.exec(uri) ?? []
      if (id !== undefined) return { resource, id, part }
    }
    throw noSuchResource(uri)
  }
}

/** What is not there, or not this caller's, is not found in the words of the protocol. */
export async function resourceOrNotFound<Value>(uri: string, value: Promise<Value>): Promise<Value> {
  try {
    return await value
  } catch (error) {
    throw error instanceof ToolError && error.code === 'not_found' ? noSuchResource(uri) : error
  }
}

function noSuchResource(uri: string): RpcError {
  return new RpcError('resource_not_found_legacy', 'there is no such resource', { uri })
}

function about({ name, doc, mimeType }: ResourceSpec): object {
  return { name, description: doc, mimeType }
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.split(VARIABLE).map(escaped).join(SEGMENT)}$`)
}

const escaped = (text: string): string => text.replaceAll(/[^a-z0-9/]/gi, String.raw`\$&`)
