import { createHash } from 'node:crypto'

/** A tool where it lives. */
export interface Origin {
  readonly mount: string
  readonly tool: string
  /** Shown by the tool's name alone. */
  readonly plain?: boolean
}

/** The longest name that models take. */
const NAME_CHARS = 64
const HASH_CHARS = 8
const LONGEST_HASH_CHARS = 40

/**
 * One name for each tool, in the order given: `{mount}_{tool}`, or `{tool}` of a plain mount, with what models do not take as `_`. Where that is too long or
 * taken, a hash of the exact names tells them apart; so a tool has the same name whatever the order of the mounts.
 */
export function toolNames(origins: readonly Origin[], reserved: readonly string[]): readonly string[] {
  const plain = origins.map(({ mount, tool, plain: isPlain = false }) =>
    (isPlain ? tool : `${mount}_${tool}`).replaceAll(/[^a-zA-Z0-9_-]/g, '_'),
  )
  const counts = new Map<string, number>()
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1)
  const taken = new Set(reserved)
  const isFree = (name: string): boolean => name.length <= NAME_CHARS && counts.get(name) === 1 && !reserved.includes(name)
  for (const name of plain) if (isFree(name)) taken.add(name)
  const hashed = new Map<Origin, string>()
  // By their exact names, so that what one gets never depends on who came first.
  const others = origins.map((origin, index) => ({ origin, name: plain[index] ?? '' })).filter(({ name }) => !isFree(name))
  for (const { origin, name } of others.sort((left, right) => (exact(left.origin) < exact(right.origin) ? -1 : 1))) {
    hashed.set(origin, withHash(name, exact(origin), taken))
  }
  return origins.map((origin, index) => hashed.get(origin) ?? plain[index] ?? '')
}

const exact = ({ mount, tool }: Origin): string => `${mount}\0${tool}`

function withHash(name: string, text: string, taken: Set<string>): string {
  const hash = createHash('sha256').update(text).digest('hex')
  for (let chars = HASH_CHARS; chars <= LONGEST_HASH_CHARS; chars++) {
    const candidate = `${name.slice(0, NAME_CHARS - chars - 1)}_${hash.slice(0, chars)}`
    if (taken.has(candidate)) continue
    taken.add(candidate)
    return candidate
  }
  throw new TypeError(`no free name for ${JSON.stringify(text)}`)
}
