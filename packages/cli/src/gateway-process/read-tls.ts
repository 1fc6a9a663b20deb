import { type KeyObject, X509Certificate, createPrivateKey } from 'node:crypto'
import { CommandError, usageError } from '../command-line/command-error.ts'
import { readGivenText } from '../command-line/given-file.ts'

/** More than this is no certificate, with all that vouch for it. */
const PEM_BYTES = 1024 * 1024

/** Certificate and key, when both are named. Throws what is wrong with which file, so that nothing is made for a start that fails. */
export function readTls(
  { tlsCert, tlsKey }: { readonly tlsCert: string | undefined; readonly tlsKey: string | undefined },
  cwd: string,
): { cert: string; key: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) throw usageError('--tls-cert and --tls-key go together')
  const pair = { cert: read('--tls-cert', tlsCert, cwd), key: read('--tls-key', tlsKey, cwd) }
  checkPair(pair, { cert: `--tls-cert ${tlsCert}`, key: `--tls-key ${tlsKey}` })
  return pair
}

interface Pair {
  readonly cert: string
  readonly key: string
}

/** What OpenSSL says of a wrong file names neither the file nor what is wrong with it. */
function checkPair({ cert, key }: Pair, named: Pair): void {
  const certificate = parsed(() => new X509Certificate(cert))
  if (certificate instanceof Error) {
    const isKey = HOLDS_KEY.test(cert)
    throw unreadable(
      isKey ? `${named.cert} holds a private key, not a certificate` : `${named.cert} is not a certificate in PEM`,
      {
        hint: isKey && HOLDS_CERTIFICATE.test(key) ? SWAPPED : 'give the file that begins with -----BEGIN CERTIFICATE-----',
        cause: certificate,
      },
    )
  }
  const privateKey = parsed(() => createPrivateKey(key))
  if (privateKey instanceof Error) throw noKey(key, named.key, privateKey)
  checkTogether({ certificate, privateKey }, named)
}

const HOLDS_KEY = /^-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/m
const HOLDS_CERTIFICATE = /^-----BEGIN CERTIFICATE-----/m
const IS_ENCRYPTED = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m
const SWAPPED = 'the two are swapped: --tls-cert takes the certificate, --tls-key the private key'

function noKey(text: string, name: string, cause: Error): CommandError {
  if (IS_ENCRYPTED.test(text))
    return unreadable(`${name} is encrypted, and there is nobody to ask for its passphrase`, {
      hint: 'openssl pkey -in ENCRYPTED -out KEY writes it without; chmod 600 what it wrote',
      cause,
    })
  if (!HOLDS_KEY.test(text) && HOLDS_CERTIFICATE.test(text))
    return unreadable(`${name} holds a certificate, not a private key`, { hint: 'give the key that it was made with', cause })
  return unreadable(`${name} is not a private key in PEM`, {
    hint: 'give the file that begins with -----BEGIN PRIVATE KEY-----, or with the name of its kind before PRIVATE',
    cause,
  })
}

function checkTogether(
  { certificate, privateKey }: { readonly certificate: X509Certificate; readonly privateKey: KeyObject },
  named: Pair,
): void {
  if (certificate.checkPrivateKey(privateKey)) return
  throw unreadable(`${named.cert} and ${named.key} do not belong together`, {
    hint: 'give the key that the certificate was made with; of several certificates in one file that of this server comes first',
  })
}

function unreadable(message: string, more: { readonly hint?: string; readonly cause?: unknown }): CommandError {
  return new CommandError('tls_unreadable', message, more)
}

function parsed<Value>(parse: () => Value): Value | Error {
  try {
    return parse()
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

/** The paths may come from the settings as well: their code says what is wrong, not that the command line is. */
function read(what: string, file: string, cwd: string): string {
  try {
    return readGivenText({ what, file, cwd }, PEM_BYTES)
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause
    const hint = cause.hint === undefined ? {} : { hint: cause.hint }
    throw unreadable(cause.message, { ...hint, cause })
  }
}
