import { isMask, maskText } from './secret-values.ts'

/** The value of a secret inside of a text, which a shell may read: no path, no address, nothing that ends a word or is put in for another. */
const WORD = String.raw`(?!\.{0,2}\/|~|-|\w{1,16}:\/\/)[\w.~+/=:@%-]{1,512}`
/** On the way from a program to its options nothing else begins. */
const SAME_COMMAND = String.raw`[^\n;|&$()<>` + '`' + String.raw`]{0,256}`
/** Programs with a password in `-p`. Behind another word than an option of theirs it may be another program's: `perl -p` runs what follows. */
const TAKES_P = '(?:mysql(?:dump|admin|import)?|mariadb(?:-dump|-admin)?|sshpass)'
const MYSQL_OPTION = String.raw`(?:-[hPu][ \t]?[\w.%@:-]{1,64}|--[\w-]{1,64}(?:=[\w./%@:-]{0,64})?)`
const LINE_END = String.raw`(?:(?:⟦U\+000D⟧)?\n|\\r\\n|\\n| )`
/** A line of a key in base64 has letters of both kinds, and a digit where it is a whole one. Words and paths mostly have not. */
const WHOLE_LINE = String.raw`(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])(?=[A-Za-z+/]*\d)[A-Za-z0-9+/]{60,16384}={0,2}`
const LAST_LINE = String.raw`(?:(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])[A-Za-z0-9+/]{1,76}={0,2}|[A-Za-z0-9+/]{1,75}={1,2})`
const ENCRYPTED = String.raw`${LINE_END}Proc-Type: 4,ENCRYPTED${LINE_END}DEK-Info: [A-Z0-9-]{1,32},[0-9A-F]{16,32}${LINE_END}`

/**
 * What secrets look like wherever they stand. Every repetition has a bound, so that a search takes time in proportion to the text;
 * the group `shown`, where there is one, says what kind of secret it was and stays. What is hidden by them is in one piece, or a key in
 * base64: a command that stood in it would be approved unseen.
 */
const SECRET_TEXTS: readonly RegExp[] = [
  new RegExp(
    String.raw`-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----(?:${ENCRYPTED})?(?:${LINE_END}${WHOLE_LINE}){1,512}(?:${LINE_END}${LAST_LINE}(?=${LINE_END}-----END ))?(?:${LINE_END}-----END [A-Z ]{0,32}PRIVATE KEY-----)?`,
    'g',
  ),
  /\beyJ[\w-]{8,512}\.[\w-]{1,4096}\.[\w-]{0,1024}/g,
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{1,32}[-_]){0,2}[A-Za-z0-9]{16,256}[\w-]{0,256}/g,
  /\b(?:(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-)[\w-]{10,512}|(?:npm_|hf_)[A-Za-z0-9]{30,256}|pypi-AgE[\w-]{40,512})/g,
  /\b(?:pat|jdg|agt|hst|exe|lnk)_[\w-]{43}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,64}/g,
  /(?<shown>\bauthorization["']?[ \t]{0,2}[:=][ \t]{0,2}["']?(?:bearer|basic|token) {1,4})[\w.~+/=-]{1,4096}/gi,
  /(?<shown>\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC) {1,4})(?:[\da-f]{32,512}\b|(?=[a-z\d_+=-]*[A-Z])(?=[A-Z\d_+=-]*[a-z])(?=[A-Za-z_+=-]*\d)[\w+=-]{16,4096})/g,
  /(?<shown>:\/\/[\w.%~+!*-]{0,64}:)[\w.%~+!*=:-]{1,256}(?=@)/g,
  // `token= program` runs the program: there is no space after `=`, or one on either side of it.
  new RegExp(
    String.raw`(?<shown>(?:^|[\s"'&?;{,-])[\w-]{0,32}(?:password|passwd|secret|token|api[-_]?key)["']?(?:=|[ \t]{0,2}:[ \t]{0,2}|[ \t]{1,2}=[ \t]{1,2})["']?)${WORD}`,
    'gi',
  ),
  new RegExp(
    String.raw`(?<shown>\bcurl[ \t]${SAME_COMMAND}?(?<=[ \t])(?:-u[ \t]{0,2}|(?:--user|--proxy-user|-U)[ \t=])["']?[\w.%+@-]{1,64}:)${WORD}`,
    'g',
  ),
  new RegExp(String.raw`(?<shown>\b${TAKES_P}(?:[ \t]+${MYSQL_OPTION}){0,8}[ \t]+-p["']?)${WORD}`, 'g'),
]

/** A text without the secrets in it, and how many there were. What was in it must be made visible before: the marks are ours. */
export function withoutSecrets(text: string): { readonly text: string; readonly masked: number } {
  let masked = 0
  let clean = text
  for (const pattern of SECRET_TEXTS)
    clean = clean.replaceAll(pattern, (found: string, ...rest: unknown[]) => {
      const shown = shownPart(rest.at(-1))
      if (isMask(found.slice(shown.length))) return found
      masked += 1
      return shown + maskText(found.length - shown.length)
    })
  return { text: clean, masked }
}

function shownPart(groups: unknown): string {
  if (typeof groups !== 'object' || groups === null || !('shown' in groups)) return ''
  return typeof groups.shown === 'string' ? groups.shown : ''
}

/** A program without its folder; options stay as they are. */
const programOf = (item: unknown): string => {
  if (typeof item !== 'string' || item.startsWith('-')) return typeof item === 'string' ? item : '?'
  return item.split('/').at(-1) ?? ''
}
/** So many words are looked at before the one that may be a secret. */
const WORDS_BEFORE = 16
const USER = new RegExp(String.raw`^(?<shown>[\w.%+@-]{1,64}:)${WORD}$`)
const OF_MYSQL = new RegExp(String.raw`^(?:.* )?${TAKES_P}(?: ${MYSQL_OPTION})* (?<shown>-p)${WORD}$`)

/** A word of a command line that holds a password because of the program before it: `-pX` of mysql, `-u me:X` of curl. */
export function maskedWord(words: readonly unknown[], at: number): string | undefined {
  const word = words[at]
  if (typeof word !== 'string' || word.length > WORD_CHARS) return undefined
  const before = words.slice(Math.max(0, at - WORDS_BEFORE), at).map(programOf)
  const isUser = /^(?:-u|-U|--user|--proxy-user)$/.test(before.at(-1) ?? '') && before.includes('curl')
  const found = isUser ? USER.exec(word) : word.startsWith('-p') ? OF_MYSQL.exec([...before.map(oneWord), word].join(' ')) : null
  const shown = found?.groups?.['shown']
  return shown === undefined ? undefined : shown + maskText(word.length - shown.length)
}

const WORD_CHARS = 512
/** A word with a space in it is one word all the same. */
const oneWord = (word: string): string => (word.length > WORD_CHARS ? '?' : word.replaceAll(/\s/g, '?'))
