import {
  type Basis,
  type DeclaredContract,
  type Difference,
  type ObservedContract,
  type SchemaField,
  fieldText,
  schemaFields,
  typeText,
} from '@parley/contracts'
import type { JsonValue } from '@parley/protocol'
import { columns } from '@parley/screen'

interface Shown {
  readonly declared: DeclaredContract
  readonly observed: ObservedContract | undefined
  readonly differences: readonly Difference[]
  readonly asked: string | undefined
  readonly basis: Basis | undefined
}

/** One contract for people. */
export function contractText({ declared, observed, differences, asked, basis }: Shown): string {
  const { title, description, kind, minVersion, maxVersion, request, response } = declared
  const range = `since ${minVersion}${maxVersion === null ? '' : `, last in ${maxVersion}`}`
  const head = [`${title} (${kind}, ${range})`, description, '']
  const stands = basis === undefined || basis.exact ? '' : ` (${asked} was not recorded; ${basis.version} stands for it)`
  const body =
    observed === undefined
      ? [...schemaText('declared request', request), ...schemaText('declared response', response)]
      : [`Codex ${observed.version}, ${observed.server}${stands}`, ...observedText(observed)]
  const parts = differences.map(({ versions, where, declared: said, observed: seen, effect }) => [
    versions.join(' '),
    where,
    effect,
    `declared: ${said}; observed: ${seen}`,
  ])
  const end = parts.length === 0 ? [] : ['', 'where they part', columns(parts)]
  return `${[...head, ...body, ...end].join('\n')}\n`
}

function observedText({ present, absent, request, response, errors = [], events }: ObservedContract): readonly string[] {
  if (!present)
    return [absent?.answer === 'error' ? `not there: error ${absent.code} like ${absent.message}` : 'not there: no answer']
  const refusals = errors.map(({ when, answer, code, message }) => [
    when,
    answer === 'silence' ? 'no answer' : `error ${code} like ${message}`,
  ])
  return [
    ...schemaText('request', request),
    ...schemaText('response', response),
    ...(refusals.length === 0 ? [] : ['refuses', [...new Set(columns(refusals).split('\n'))].join('\n')]),
    ...Object.entries(events ?? {}).flatMap(([type, schema]) => schemaText(`event ${type}`, schema)),
  ]
}

function schemaText(title: string, schema: JsonValue | undefined): readonly string[] {
  if (schema === undefined) return []
  const fields = schemaFields(schema)
  if (fields.length === 0) return [`${title}: ${typeText(schema)}`]
  return [title, columns(fields.map(fieldRow))]
}

const fieldRow = (field: SchemaField): readonly string[] => [field.field, fieldText(field)]
