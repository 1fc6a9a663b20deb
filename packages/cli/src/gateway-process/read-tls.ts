import { CommandError, usageError } from '@parley/command-line'
import { readGivenText } from '@parley/command-line/commands'
import { type TlsProblem, tlsProblem } from './tls-problem.ts'

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

function checkPair(pair: Pair, named: Pair): void {
  const problem = tlsProblem(pair)
  if (problem === undefined) return
  const { said, hint } = WORDS[problem.kind]
  throw unreadable(said(named), { hint, cause: problem.cause })
}

const PEM_CERTIFICATE = 'give the file that begins with -----BEGIN CERTIFICATE-----'
const HOLDS_KEY = ({ cert }: Pair): string => `${cert} holds a private key, not a certificate`
const WORDS: Readonly<Record<TlsProblem, { readonly said: (named: Pair) => string; readonly hint: string }>> = {
  'certificate-is-key': { said: HOLDS_KEY, hint: PEM_CERTIFICATE },
  swapped: { said: HOLDS_KEY, hint: 'the two are swapped: --tls-cert takes the certificate, --tls-key the private key' },
  'no-certificate': { said: ({ cert }) => `${cert} is not a certificate in PEM`, hint: PEM_CERTIFICATE },
  'key-encrypted': {
    said: ({ key }) => `${key} is encrypted, and there is nobody to ask for its passphrase`,
    hint: 'openssl pkey -in ENCRYPTED -out KEY writes it without; chmod 600 what it wrote',
  },
  'key-is-certificate': {
    said: ({ key }) => `${key} holds a certificate, not a private key`,
    hint: 'give the key that it was made with',
  },
  'no-key': {
    said: ({ key }) => `${key} is not a private key in PEM`,
    hint: 'give the file that begins with -----BEGIN PRIVATE KEY-----, or with the name of its kind before PRIVATE',
  },
  'no-pair': {
    said: ({ cert, key }) => `${cert} and ${key} do not belong together`,
    hint: 'give the key that the certificate was made with; of several certificates in one file that of this server comes first',
  },
}

function unreadable(message: string, more: { readonly hint?: string; readonly cause?: unknown }): CommandError {
  return new CommandError('tls_unreadable', message, more)
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
