/** A message as the store has it in the end. */
export interface KeptMessage {
  readonly id: number
  readonly from: 'agent' | 'person'
  readonly text: string
}

/** What somebody said. No two texts are the same. */
export interface Said {
  readonly speaker: string
  readonly text: string
  /** Where it is, by the answer; `undefined`: no answer came, and it was not sent again. */
  place: number | undefined
}

/** What one process of a reader told, from its start until it was killed or left. */
export interface ReaderLife {
  /** How far its reader had read, by the gateway, when it began. */
  readonly marked: number
  readonly told: readonly Pick<KeptMessage, 'id' | 'text'>[]
}

type Problem = (text: string) => void

/** What is kept is what was said: all that was acknowledged, at its place; nothing twice, nothing else; each speaker in their order. */
export function checkKept(kept: readonly KeptMessage[], said: readonly Said[], problem: Problem): void {
  kept.forEach(({ id }, index) => {
    if (id !== index + 1) problem(`the message at place ${index + 1} has the number ${id}`)
  })
  const byText = Map.groupBy(kept, ({ text }) => text)
  const known = new Set(said.map(({ text }) => text))
  for (const [text, several] of byText) {
    if (!known.has(text)) problem(`${text} was said by nobody`)
    if (several.length > 1) problem(`${text} is there ${several.length} times: ${several.map(({ id }) => id).join(', ')}`)
  }
  const latest = new Map<string, number>()
  for (const { speaker, text, place } of said) {
    if (place === undefined) continue
    const found = byText.get(text)?.[0]
    if (found === undefined) problem(`${text} was acknowledged as ${place} and is lost`)
    else if (found.id !== place) problem(`${text} was acknowledged as ${place} and is ${found.id}`)
    const before = latest.get(speaker) ?? 0
    if (place <= before) problem(`${text} is ${place}, and what ${speaker} had said before is ${before}`)
    latest.set(speaker, place)
  }
}

/**
 * Each life of a reader tells one message after the other. The next one goes on where its reader was marked: nothing is left out, and nothing that was
 * marked as read is told again. What was told and not marked yet when it was killed is told again, once per life.
 */
export function checkLives(
  { name, lives, kept }: { readonly name: string; readonly lives: readonly ReaderLife[]; readonly kept: readonly KeptMessage[] },
  problem: Problem,
): { readonly last: number; readonly again: number } {
  let last = 0
  let again = 0
  for (const [nth, { marked, told }] of lives.entries()) {
    const life = `${name}, life ${nth + 1}`
    if (marked > last) problem(`${life} is marked as ${marked} and was told up to ${last}`)
    const [first] = told
    if (first !== undefined && first.id <= marked) problem(`${life} begins with ${first.id}, which was marked as read`)
    if (first !== undefined && first.id > last + 1) problem(`${life} begins with ${first.id} after ${last}`)
    if (first !== undefined) again += Math.max(0, last - first.id + 1)
    for (const [index, { id, text }] of told.entries()) {
      const before = told[index - 1]
      if (before !== undefined && id !== before.id + 1) problem(`${life} was told ${id} after ${before.id}`)
      const there = kept[id - 1]
      if (there?.text !== text) problem(`${life} was told ${text} as ${id}, where ${there?.text ?? 'nothing'} is`)
    }
    last = Math.max(last, told.at(-1)?.id ?? 0)
  }
  return { last, again }
}

/** What the agent was told is what is kept for it: each text once and in order. */
export function checkHeard(heard: readonly string[], kept: readonly KeptMessage[], problem: Problem): void {
  const times = new Map<string, number>()
  for (const text of heard) times.set(text, (times.get(text) ?? 0) + 1)
  for (const [text, count] of times) if (count > 1) problem(`the agent was told ${text} ${count} times`)
  const wanted = kept.map(({ text }) => text)
  const missing = wanted.filter((text) => !times.has(text))
  if (missing.length > 0) problem(`the agent was never told ${missing.slice(0, 5).join(', ')} (${missing.length} in all)`)
  const there = new Set(wanted)
  for (const text of times.keys()) if (!there.has(text)) problem(`the agent was told ${text}, which is not there for it`)
  const inOrder = heard.every((text, index) => index === 0 || wanted.indexOf(text) >= wanted.indexOf(heard[index - 1] ?? ''))
  if (!inOrder) problem('the agent was told messages out of their order')
}
