import type { SteadyClient } from '@parley/client'
import { type AuditEntry, TOOLS, type ToolInput, type ToolOutput } from '@parley/protocol'

const PAGE_ENTRIES = 1_000
/** Of reads without end so many pages are looked through. */
const PAGES_MAX = 50
/** What is told of besides tools and changes nothing. */
const READING: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
  'connect',
  'sign-in.link.check',
  'several',
])

/** What changed something, newest first, as far as `limit` and the pages go. */
export async function searchChanges(
  caller: Pick<SteadyClient, 'call'>,
  { limit, ...wanted }: Omit<ToolInput<'audit.search'>, 'limit'> & { readonly limit: number },
): Promise<ToolOutput<'audit.search'>> {
  const fold = new BegunFold(wanted.outcome !== undefined)
  const items: AuditEntry[] = []
  let before = wanted.before_seq
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const from = before === undefined ? {} : { before_seq: before }
    const found = await caller.call('audit.search', { ...wanted, ...from, limit: PAGE_ENTRIES })
    for (const entry of found.items) {
      if (!isChange(entry) || !fold.takes(entry)) continue
      if (items.length === limit) return { items, next_before_seq: (items.at(-1) ?? entry).seq }
      items.push(entry)
    }
    if (found.next_before_seq === null) return { items, next_before_seq: null }
    before = found.next_before_seq
  }
  return { items, next_before_seq: before ?? null }
}

const TOOL_SPECS: ReadonlyMap<string, (typeof TOOLS)[keyof typeof TOOLS]> = new Map(Object.entries(TOOLS))

function isChange({ action }: Pick<AuditEntry, 'action'>): boolean {
  const tool = TOOL_SPECS.get(action)
  return tool === undefined ? !READING.has(action) : !tool.annotations.readOnlyHint
}

/** A change is told when it begins and when it ends. Of one whose end is there the beginning says nothing more. */
class BegunFold {
  readonly #ends = new Map<string, number>()
  readonly #dropsAll: boolean

  /** Where only one outcome is asked for, ends may be left out, and beginnings say nothing about them. */
  constructor(dropsAll: boolean) {
    this.#dropsAll = dropsAll
  }

  /** To be asked newest first. */
  takes({ actor, action, code }: AuditEntry): boolean {
    const key = `${actor}\n${action}`
    const ends = this.#ends.get(key) ?? 0
    if (code !== 'begun') this.#ends.set(key, ends + 1)
    else if (ends > 0) this.#ends.set(key, ends - 1)
    return code !== 'begun' || (ends === 0 && !this.#dropsAll)
  }
}
