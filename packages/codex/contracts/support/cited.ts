import { createHash } from 'node:crypto'
import { registry } from '../../src/contract/registry.ts'
import { type DataSource, NAMES, OBSERVED_VERSIONS } from '../../src/contract/registry-types.ts'

interface Cited<Source extends DataSource = DataSource> {
  readonly by: string
  readonly source: Source
}

const cited: readonly Cited[] = NAMES.flatMap((name) => [
  { by: name, source: registry.declared(name).dataSource },
  ...OBSERVED_VERSIONS.flatMap((version) => {
    const { dataSource, types, errors = [] } = registry.observed(name, version)
    const sources = [dataSource, ...(types === undefined ? [] : [types]), ...errors.map((error) => error.dataSource)]
    return sources.map((source) => ({ by: `${name} of ${version}`, source }))
  }),
])

/** Where the contracts say that they come from, of one kind. */
export function citedOf<Kind extends DataSource['kind']>(kind: Kind): readonly Cited<Extract<DataSource, { kind: Kind }>>[] {
  return cited.flatMap(({ by, source }) => (isKind(source, kind) ? [{ by, source }] : []))
}

function isKind<Kind extends DataSource['kind']>(source: DataSource, kind: Kind): source is Extract<DataSource, { kind: Kind }> {
  return source.kind === kind
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
