/** What the gateway says to programs, as a person reads it: with a capital and a full stop. */
export function sentence(words: string): string {
  if (words === '') return ''
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?…]$/.test(words) ? '' : '.'}`
}
