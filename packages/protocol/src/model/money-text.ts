const MICROUSD = 1_000_000
/** Below a dollar one wants to see more of it. */
const CENTS = 2
const FINE = 6

/** An amount of money in dollars, as exact as it is small. */
export function dollars(microusd: number): string {
  const usd = microusd / MICROUSD
  const digits = usd === 0 || usd >= 1 ? CENTS : FINE
  return `$${usd.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, '$1')}`
}
