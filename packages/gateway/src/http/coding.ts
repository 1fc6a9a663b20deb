/** The codings in which a file of the page may lie beside itself, the better one first. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i

/**
 * Which of the codings that a file has suits the client best, by its `Accept-Encoding`; `undefined` is the file as it is. Of
 * codings that it likes equally ours comes first, and plain last. A header that cannot be read asks for nothing.
 */
export function codingFor(header: string | undefined, has: (coding: Coding) => boolean): Coding | undefined {
  const weights = weightsOf(header ?? '')
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  // Plain is acceptable unless it is ruled out, but never asked for by silence.
  const plain = weights.get('identity') ?? 0
  const best = CODINGS.filter((coding) => has(coding) && weightOf(coding) > 0).toSorted((a, b) => weightOf(b) - weightOf(a))[0]
  return best !== undefined && weightOf(best) >= plain ? best : undefined
}

function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    if (name === '') continue
    const weight = parameters.length === 0 ? 1 : Number(WEIGHT.exec(parameters[0] ?? '')?.[1] ?? 0)
    weights.set(name.toLowerCase() === 'x-gzip' ? 'gzip' : name.toLowerCase(), weight)
  }
  return weights
}
