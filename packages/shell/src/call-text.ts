import { visibleName } from '@parley/protocol/visible'

interface NamedCall {
  readonly kind: string
  readonly mount: string | null
  readonly name: string
}

/** What is called, in few words. Names come from strangers: no two of them look the same. */
export const callText = ({ kind, mount, name }: NamedCall): string =>
  [kind, ...(mount === null ? [] : [visibleName(mount)]), visibleName(name)].join(' ')
