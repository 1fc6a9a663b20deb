/** What Node says of a certificate that no authority known to it vouches for. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const NODES_ADVICE = /; if the root CA is installed locally, .*$/s

/** Why no connection could be made, in words; for a certificate that is not trusted, also what to do about it. */
export function connectReason(error: Error): string {
  const said = error.message === '' ? error.name : error.message.replace(NODES_ADVICE, '')
  const isUntrusted = 'code' in error && typeof error.code === 'string' && UNTRUSTED.has(error.code)
  return isUntrusted ? `${said}; name a file with its certificate, or its authority's, in NODE_EXTRA_CA_CERTS to trust it` : said
}
