/**
 * Where a caller reaches us who dialled `host`: a judge beside the gateway may know it by another name than people do. The
 * known address wins where the names are the same, because a proxy in front of us may speak TLS when we do not.
 */
export function dialledUrl(host: string | undefined, at: { readonly known: string; readonly secure: boolean }): string {
  if (host === undefined || host.toLowerCase() === URL.parse(at.known)?.host) return at.known
  // The header's host was checked against those we serve; whatever else stands in it is left out here.
  return URL.parse(`${at.secure ? 'https' : 'http'}://${host}`)?.origin ?? at.known
}
