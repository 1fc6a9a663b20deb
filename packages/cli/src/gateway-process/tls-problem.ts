import { X509Certificate, createPrivateKey } from 'node:crypto'

/** What is wrong with a certificate or a key in PEM, or with the two together. */
export type TlsProblem =
  | 'certificate-is-key'
  | 'swapped'
  | 'no-certificate'
  | 'key-encrypted'
  | 'key-is-certificate'
  | 'no-key'
  | 'no-pair'

const HOLDS_KEY = /^-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/m
const HOLDS_CERTIFICATE = /^-----BEGIN CERTIFICATE-----/m
const IS_ENCRYPTED = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m

/** What OpenSSL says of a wrong file names neither the file nor what is wrong with it. `undefined`: a server can be opened with them. */
export function tlsProblem({
  cert,
  key,
}: {
  readonly cert: string
  readonly key: string
}): { readonly kind: TlsProblem; readonly cause?: Error } | undefined {
  const certificate = parsed(() => new X509Certificate(cert))
  if (certificate instanceof Error) return { kind: certificateProblem(cert, key), cause: certificate }
  const privateKey = parsed(() => createPrivateKey(key))
  if (privateKey instanceof Error) return { kind: keyProblem(key), cause: privateKey }
  return certificate.checkPrivateKey(privateKey) ? undefined : { kind: 'no-pair' }
}

function certificateProblem(cert: string, key: string): TlsProblem {
  if (!HOLDS_KEY.test(cert)) return 'no-certificate'
  return HOLDS_CERTIFICATE.test(key) ? 'swapped' : 'certificate-is-key'
}

function keyProblem(key: string): TlsProblem {
  if (IS_ENCRYPTED.test(key)) return 'key-encrypted'
  return !HOLDS_KEY.test(key) && HOLDS_CERTIFICATE.test(key) ? 'key-is-certificate' : 'no-key'
}

function parsed<Value>(parse: () => Value): Value | Error {
  try {
    return parse()
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}
