const MICROUSD = 1_000_000
/** Below a dollar one wants to see more of it. */
const CENTS = 2
const FINE = 6

/** What calls cost. A price that is not known is said, and is not nothing; where `calls` are known, none of them may have one. */
export function costText(microusd: number | null, unpriced: number, calls?: number): string {
  if (microusd === null || (unpriced > 0 && unpriced === calls)) return 'unpriced'
  return unpriced > 0 ? `${dollars(microusd)} and ${unpriced} unpriced` : dollars(microusd)
}

/** An amount of money in dollars, as exact as it is small. */
export function dollars(microusd: number): string {
  const usd = microusd / MICROUSD
  const digits = usd === 0 || usd >= 1 ? CENTS : FINE
  return `$${usd.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, '$1')}`
}
