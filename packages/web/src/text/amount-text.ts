import { dollars } from '@parley/protocol'

const KIB = 1024

export function memoryText(kibibytes: number): string {
  return kibibytes < KIB ? `${kibibytes} KiB` : `${(kibibytes / KIB).toFixed(1)} MiB`
}

/** A number with its thousands apart by a narrow space that does not break. */
export const countText = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, '\u202F')

/** What calls cost; a price that is not known is said, and is not nothing. */
export function costText(microusd: number | null, unpricedCalls: number): string {
  if (microusd === null) return 'unpriced'
  return unpricedCalls > 0 ? `${dollars(microusd)} and ${unpricedCalls} unpriced` : dollars(microusd)
}
