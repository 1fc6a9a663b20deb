/** Words of which one in a member's name makes its value a secret. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  'apikey',
  'auth',
  'authorization',
  'bearer',
  'cookie',
  'credential',
  'credentials',
  'jwt',
  'otp',
  'pin',
  'pwd',
  'secrets',
  'signature',
  'totp',
])
/** What a word may end with, as in `PGPASSWORD`. Of tokens in the plural there are other kinds: `max_tokens`. */
const SECRET_END = /(?:passphrase|passwd|passwords?|secret|token|(?:access|api|private|secret|signing)keys?)$/
/** Two words that are one. */
const SECRET_PAIRS: ReadonlySet<string> = new Set([
  'access key',
  'access keys',
  'access tokens',
  'api key',
  'api keys',
  'api tokens',
  'auth key',
  'auth tokens',
  'client key',
  'private key',
  'private keys',
  'refresh tokens',
  'secret key',
  'session id',
  'session key',
  'session tokens',
  'signing key',
  'ssh key',
])

/** More of a name is not looked at: what is longer is no name. */
const NAME_CHARS = 128

/** Whether what stands under this name is a secret: `api_key`, `X-Auth-Token`, `dbPassword`, `PGPASSWORD`. */
export function isSecretName(name: string): boolean {
  const words = name
    .slice(0, NAME_CHARS)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  return words.some(
    (word, at) => SECRET_WORDS.has(word) || SECRET_END.test(word) || SECRET_PAIRS.has(`${word} ${words[at + 1] ?? ''}`),
  )
}

/**
 * A flag whose value is the next word of a command line: `--token`. One with `=` carries its own. Not with one dash: `bash -secret X` is
 * `bash -s -e -c … X`, which runs X.
 */
export const isSecretFlag = (text: string): boolean => /^--[A-Za-z][\w-]*$/.test(text) && isSecretName(text)

/** The name of a header or of a variable that stands before its value in a list of two. A plain word may be a program. */
export const isSecretHeader = (text: string): boolean =>
  /^[A-Za-z][\w-]*$/.test(text) && /[-_A-Z]/.test(text) && isSecretName(text)
