/** What Node says of a certificate that no authority known to it vouches for. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const NODES_ADVICE = /; if the root CA is installed locally, .*$/s

/** What Node says when a server hangs up before it said anything: to plain text, one that expects TLS does. */
const HUNG_UP = new Set(['other side closed', 'socket hang up'])
/** What OpenSSL says of an answer in plain text. */
const PLAIN_ANSWER = /:wrong version number:/

/** Why no connection could be made, in words, and what to do about it where that is known. `host` is the URL that was dialled; none for a socket file. */
export function connectReason(error: Error, host: URL | undefined): string {
  const said = error.message === '' ? error.name : error.message.replace(NODES_ADVICE, '')
  const isUntrusted = 'code' in error && typeof error.code === 'string' && UNTRUSTED.has(error.code)
  if (isUntrusted) return `${said}; name a file with its certificate, or its authority's, in NODE_EXTRA_CA_CERTS to trust it`
  if (host === undefined) return said
  if (PLAIN_ANSWER.test(said)) return `it does not speak TLS; try ${host.protocol.replace('s:', '')}://${host.host}`
  const isPlain = host.protocol === 'http:' || host.protocol === 'ws:'
  return isPlain && HUNG_UP.has(said) ? `${said}; if it speaks TLS, try ${host.protocol.replace(':', 's')}://${host.host}` : said
}
