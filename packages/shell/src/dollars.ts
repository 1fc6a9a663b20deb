import { type Invocation, usageError } from '@parley/command-line'

const MICROUSD = 1_000_000
const USD_MAX = 1_000_000

/** The money that an option gives, in millionths of a dollar. */
export function dollarsOf(values: Invocation['values'], flag: string): number | undefined {
  const text = values.text(flag)
  if (text === undefined) return undefined
  const usd = /^\d{1,7}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  const microusd = Math.round(usd * MICROUSD)
  if (microusd >= 1 && usd <= USD_MAX) return microusd
  throw usageError(`--${flag} must be dollars, such as 0.50, not ${JSON.stringify(text)}`)
}
