/** As RFC 3986 has it. In a template a variable may stand there, which is none. */
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/

/**
 * A URI or URI template of a mount as clients see it: the mount's name stands first after the scheme, so that it can be read back
 * without a table: `test://a/b` is `test://{mount}/a/b`, `urn:a:b` is `urn:{mount}/a:b`. `undefined`: it has no scheme.
 */
export function showUri(mount: string, uri: string): string | undefined {
  const scheme = SCHEME.exec(uri)?.[0]
  if (scheme === undefined) return undefined
  const rest = uri.slice(scheme.length)
  return rest.startsWith('//') ? `${scheme}//${mount}/${rest.slice(2)}` : `${scheme}${mount}/${rest}`
}

/** The way back. `mount` need not be the name of one. */
export function readUri(shown: string): { readonly mount: string; readonly uri: string } | undefined {
  const scheme = SCHEME.exec(shown)?.[0]
  if (scheme === undefined) return undefined
  const head = shown.startsWith('//', scheme.length) ? `${scheme}//` : scheme
  const end = shown.indexOf('/', head.length)
  if (end === -1) return undefined
  return { mount: shown.slice(head.length, end), uri: `${head}${shown.slice(end + 1)}` }
}
