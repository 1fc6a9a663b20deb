import { type Registry, registry } from './registry.ts'
import { type ContractName, type JsonSchema, NAMES, type ObservedContract, type ObservedVersion } from './registry-types.ts'
import { type SchemaField, schemaFields } from './schema-fields.ts'

/** One thing in which two versions are not the same. */
export interface Change {
  readonly method: string
  readonly where: 'method' | 'request' | 'response' | 'event'
  /** Empty for the method as a whole. */
  readonly field: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly before: string | null
  readonly after: string | null
}

/** Everything that differs between the observed layers of two versions. */
export function diffVersions(from: ObservedVersion, to: ObservedVersion, contracts: Registry = registry): readonly Change[] {
  return NAMES.flatMap((name) => diffMethod(name, contracts.observed(name, from), contracts.observed(name, to)))
}

function diffMethod(name: ContractName, before: ObservedContract, after: ObservedContract): readonly Change[] {
  const method = name === 'codex-event' ? 'codex/event' : name
  if (before.present !== after.present) {
    const [was, is] = [presence(before), presence(after)]
    return [{ method, where: 'method', field: '', change: after.present ? 'added' : 'removed', before: was, after: is }]
  }
  if (!before.present) return []
  const moved: Change[] =
    before.server === after.server
      ? []
      : [{ method, where: 'method', field: '', change: 'changed', before: before.server, after: after.server }]
  return [
    ...moved,
    ...diffSchemas(method, 'request', before.request, after.request),
    ...diffSchemas(method, 'response', before.response, after.response),
    ...diffEvents(method, before.events ?? {}, after.events ?? {}),
  ]
}

function presence({ kind, present, server, absent }: ObservedContract): string {
  if (present) return server
  if (kind !== 'request') return 'never comes'
  return absent?.answer === 'error' ? `error ${absent.code ?? ''}`.trim() : 'silence'
}

function diffEvents(
  method: string,
  before: Readonly<Record<string, JsonSchema>>,
  after: Readonly<Record<string, JsonSchema>>,
): readonly Change[] {
  const types = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return types.flatMap((type): readonly Change[] => {
    const event = `${method}/${type}`
    const [was, is] = [before[type], after[type]]
    if (was === undefined) return [{ method: event, where: 'event', field: '', change: 'added', before: null, after: 'sent' }]
    if (is === undefined) return [{ method: event, where: 'event', field: '', change: 'removed', before: 'sent', after: null }]
    return diffSchemas(event, 'event', was, is)
  })
}

function diffSchemas(
  method: string,
  where: Change['where'],
  before: JsonSchema | undefined,
  after: JsonSchema | undefined,
): readonly Change[] {
  const [was, is] = [byField(before), byField(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((field): readonly Change[] => {
    const [old, now] = [was.get(field), is.get(field)]
    if (old === now) return []
    const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
    return [{ method, where, field, change, before: old ?? null, after: now ?? null }]
  })
}

const byField = (schema: JsonSchema | undefined): ReadonlyMap<string, string> =>
  new Map(schemaFields(schema).map((found) => [found.field, fieldText(found)]))

/** A field in a few words: `string, required`. */
export const fieldText = ({ type, required }: SchemaField): string => `${type}, ${required ? 'required' : 'optional'}`
