/** A number with its thousands apart by a narrow space that does not break. */
export const countText = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, '\u202F')
