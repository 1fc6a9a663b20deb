const KIB = 1024
const MICROUSD = 1_000_000
const CENTS = 2
/** Below a dollar one wants to see more of it. */
const FINE = 6

export function memoryText(kibibytes: number): string {
  return kibibytes < KIB ? `${kibibytes} KiB` : `${(kibibytes / KIB).toFixed(1)} MiB`
}

/** A number with its thousands apart by a narrow space that does not break. */
export const countText = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, '\u202F')

/** An amount of money in dollars, as exact as it is small. */
function dollarText(microusd: number): string {
  const usd = microusd / MICROUSD
  return `$${usd.toFixed(usd === 0 || usd >= 1 ? CENTS : FINE).replace(/(\.\d\d\d*?)0+$/, '$1')}`
}

/** What calls cost; a price that is not known is said, and is not nothing. */
export function costText(microusd: number | null, unpricedCalls: number): string {
  if (microusd === null) return 'unpriced'
  return unpricedCalls > 0 ? `${dollarText(microusd)} and ${unpricedCalls} unpriced` : dollarText(microusd)
}
