import {
  type ContractName,
  type DeclaredContract,
  type Difference,
  OBSERVED_VERSIONS,
  type ObservedContract,
  type Registry,
  fieldText,
  schemaFields,
  typeText,
} from '@parley/contracts'
import { SERVES } from '@parley/contracts/version'
import type { JsonValue } from '@parley/protocol'

/** The Markdown reference of Codex's contracts: which version has what where, and where the documents err. */
export function contractReference(contracts: Registry): string {
  return `${[
    '# Contracts of the Codex app-server',
    'Made from `packages/contracts/contracts` by `npm run generate`; do not edit. *Declared* is what the documents say, *observed* what ' +
      'the real binaries did when they were recorded; Parley follows the observed one. `parley contracts` shows, compares and checks them.',
    '## Which command serves what',
    table(
      ['Codex', 'tools `codex`, `codex-reply` over MCP', 'methods', 'of the kind', '`jsonrpc` on the wire'],
      SERVES.map(({ from, to, mcpServer, appServer, methods, jsonrpc }) => [
        to === null ? `${from} and newer` : `${from} to ${to}.x`,
        mcpServer === null ? 'nowhere' : `\`codex ${mcpServer.join(' ')}\``,
        `\`codex ${appServer.join(' ')}\``,
        methods === 'v1' ? 'those below' : 'threads and turns; few of those below',
        jsonrpc ? 'yes' : 'no',
      ]),
    ),
    '## Methods and versions',
    table(
      ['method', 'kind', ...OBSERVED_VERSIONS],
      contracts.names.map((name) => presenceRow(name, contracts)),
    ),
    '## Where all methods differ from what is declared',
    ...differenceTable(contracts.generalDifferences),
    ...contracts.names.map((name) => section(name, contracts)),
  ].join('\n\n')}\n`
}

function presenceRow(name: ContractName, contracts: Registry): readonly string[] {
  const { title, kind } = contracts.declared(name)
  const cells = OBSERVED_VERSIONS.map((version) => whereText(contracts.observed(name, version)))
  return [`[\`${title}\`](#${title.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '')})`, kind, ...cells]
}

function whereText({ kind, present, server, absent }: ObservedContract): string {
  if (present) return `\`${server}\``
  if (kind !== 'request') return 'never comes'
  return absent?.answer === 'error' ? `no: error ${absent.code ?? ''}`.trim() : 'no: silence'
}

function section(name: ContractName, contracts: Registry): string {
  const declared = contracts.declared(name)
  const { title, description, minVersion, maxVersion, kind } = declared
  const observed = OBSERVED_VERSIONS.map((version) => contracts.observed(name, version)).filter(({ present }) => present)
  const range = `From ${minVersion}${maxVersion === null ? '' : ` to ${maxVersion}`}.`
  const gates = Object.entries(declared.versionSpecificParams).map(
    ([param, gate]) => `\`${param}\` is declared for ${gate.minVersion} and later.`,
  )
  return [
    `### ${title}`,
    [description, range, ...gates].join(' '),
    fieldTable(kind === 'notification' ? 'params' : 'request', declared.request, observed, 'request'),
    ...(kind === 'notification' ? [] : [fieldTable('result', declared.response, observed, 'response')]),
    ...eventTable(observed),
    ...errorTable(observed),
    ...differenceTable(contracts.differences(name)),
    `Source of what is declared: ${sourceText(declared.dataSource)}.`,
  ].join('\n\n')
}

/** Every field, as it is declared and as each version has it. */
function fieldTable(
  title: string,
  declared: JsonValue,
  observed: readonly ObservedContract[],
  half: 'request' | 'response',
): string {
  const layers = [declared, ...observed.map((contract) => contract[half])].map(
    (schema) => new Map(schemaFields(schema).map((field) => [field.field, fieldText(field)])),
  )
  const fields = [...new Set(layers.flatMap((layer) => [...layer.keys()]))]
  if (fields.length === 0) return `No field in the ${title}: ${typeText(declared)}.`
  const rows = fields.map((field) => [`\`${field}\``, ...layers.map((layer) => escaped(layer.get(field) ?? '–'))])
  return table([title, 'declared', ...observed.map(({ version }) => version)], rows)
}

function eventTable(observed: readonly ObservedContract[]): readonly string[] {
  const types = [...new Set(observed.flatMap(({ events }) => Object.keys(events ?? {})))].toSorted()
  if (types.length === 0) return []
  const rows = types.map((type) => [
    `\`${type}\``,
    ...observed.map(({ events }) => {
      const schema = events?.[type]
      if (schema === undefined) return '–'
      return schemaFields(schema)
        .filter(({ field }) => field !== 'type' && !/[.[(]/.test(field))
        .map(({ field, required }) => `\`${field}${required ? '' : '?'}\``)
        .join(', ')
    }),
  ])
  return [table(['event', ...observed.map(({ version }) => version)], rows)]
}

function errorTable(observed: readonly ObservedContract[]): readonly string[] {
  const rows = new Map<string, Map<string, string>>()
  for (const { version, errors = [] } of observed)
    for (const { when, answer, code, message } of errors) {
      const text = answer === 'silence' ? 'no answer' : `${code} \`${message}\``
      rows.set(when, (rows.get(when) ?? new Map<string, string>()).set(version, escaped(text)))
    }
  if (rows.size === 0) return []
  const lines = [...rows].map(([when, byVersion]) => [
    escaped(when),
    ...observed.map(({ version }) => byVersion.get(version) ?? '–'),
  ])
  return [table(['refused', ...observed.map(({ version }) => version)], lines)]
}

function differenceTable(differences: readonly Difference[]): readonly string[] {
  if (differences.length === 0) return []
  const rows = differences.map(({ versions, where, declared, observed, effect, evidence }) => [
    `\`${where}\``,
    escaped(declared),
    escaped(observed),
    effect,
    versions.join(', '),
    `\`${evidence.recording}\` line ${evidence.line}`,
  ])
  return [table(['where they part', 'declared', 'observed', 'effect', 'versions', 'evidence'], rows)]
}

function sourceText(source: DeclaredContract['dataSource']): string {
  if (source.kind === 'document')
    return `\`${source.path}\`, lines ${source.lines[0]} to ${source.lines[1]}, at commit \`${source.commit.slice(0, 12)}\``
  if (source.kind === 'recording') return `the recording \`${source.file}\`, line ${source.line}`
  return `\`${source.file}\`, written by \`${source.generator}\` of Codex ${source.version}`
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
