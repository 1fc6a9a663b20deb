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
  'passphrase',
  'passwd',
  'password',
  'passwords',
  'pin',
  'privatekey',
  'pwd',
  'secret',
  'secrets',
  'signature',
  'token',
])
/** Two words that are one. */
const SECRET_PAIRS: ReadonlySet<string> = new Set([
  'access key',
  'api key',
  'auth key',
  'client key',
  'private key',
  'session id',
  'session key',
  'signing key',
  'ssh key',
])

/** More of a name is not looked at: what is longer is no name. */
const NAME_CHARS = 128

/** Whether what stands under this name is a secret: `api_key`, `X-Auth-Token`, `dbPassword`. */
export function isSecretName(name: string): boolean {
  const words = name
    .slice(0, NAME_CHARS)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  return words.some((word, at) => SECRET_WORDS.has(word) || SECRET_PAIRS.has(`${word} ${words[at + 1] ?? ''}`))
}

/** A flag whose value is the next word of a command line: `--token`. One with `=` carries its own. */
export const isSecretFlag = (text: string): boolean => /^--?[A-Za-z][\w-]*$/.test(text) && isSecretName(text)

/**
 * What secrets look like wherever they stand. Every repetition has a bound, so that a search takes time in proportion to the text;
 * the group `shown`, where there is one, says what kind of secret it was and stays.
 */
const SECRET_TEXTS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,32}PRIVATE KEY-----)?/g,
  /\beyJ[\w-]{8,512}\.[\w-]{1,4096}\.[\w-]{0,1024}/g,
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{1,32}[-_]){0,2}[A-Za-z0-9]{16,256}[\w-]{0,256}/g,
  /\b(?:gh[opsur]_|github_pat_|glpat-|npm_|xox[abeprs]-|hf_|pypi-)[\w-]{10,512}/g,
  /\b(?:pat|jdg|agt|hst|exe|lnk)_[\w-]{43}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,64}/g,
  /(?<shown>\b(?:bearer|basic) {1,4})[\w.~+/=-]{8,4096}/gi,
  /(?<shown>:\/\/[^\s/:@]{0,64}:)[^\s/@]{1,256}(?=@)/g,
  /(?<shown>(?:^|[\s"'&?;{,-])[\w-]{0,32}(?:password|passwd|secret|token|api[-_]?key)["']?\s{0,2}[=:]\s{0,2}["']?)[^\s"'&;,]{1,512}/gi,
]

const MASK = '⟦hidden'
/** How many characters were hidden is said, and never which. */
export const maskText = (chars: number): string => `${MASK}, ${chars} characters⟧`
export const HIDDEN = `${MASK}⟧`

/** A text without the secrets in it, and how many there were. What was in it must be made visible before: the marks are ours. */
export function withoutSecrets(text: string): { readonly text: string; readonly masked: number } {
  let masked = 0
  let clean = text
  for (const pattern of SECRET_TEXTS)
    clean = clean.replaceAll(pattern, (found: string, ...rest: unknown[]) => {
      const shown = shownPart(rest.at(-1))
      if (found.slice(shown.length).startsWith(MASK)) return found
      masked += 1
      return shown + maskText(found.length - shown.length)
    })
  return { text: clean, masked }
}

function shownPart(groups: unknown): string {
  if (typeof groups !== 'object' || groups === null || !('shown' in groups)) return ''
  return typeof groups.shown === 'string' ? groups.shown : ''
}
