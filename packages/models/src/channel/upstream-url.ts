/** Other spellings (`http:///host`, a `\` for a `/`) mean a place too, but not the one that people read in them. */
const PLAIN = /^https?:\/\/[^\s/\\]+(?:\/[^\s\\]*)?$/i

/** What is wrong with the address of an upstream; `undefined` when nothing is. */
export function baseUrlFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !PLAIN.test(text)) return 'must be an http:// or https:// URL'
  if (url.username !== '' || url.password !== '') return 'must not hold a name or a password; give the key as api_key'
  // Paths are put behind it as text.
  return text.includes('?') || text.includes('#') ? 'must end with its path, without ? and #' : undefined
}

/** One address for one place: two that differ in a slash at the end are the same. */
export const tidyBaseUrl = (text: string): string => text.replace(/\/+$/, '')

/** Where an address leads, without its path: the port is there also where it goes without saying. */
export function hostAndPort(baseUrl: string): string {
  const { protocol, hostname, port } = new URL(baseUrl)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** A path below the address of an upstream. */
export const upstreamUrl = (baseUrl: string, path: string): string => tidyBaseUrl(baseUrl) + path
