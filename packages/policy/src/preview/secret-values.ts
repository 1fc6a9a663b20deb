/**
 * What is hidden must not be able to do anything: whoever decides would approve what they cannot see. So only a value in one piece is
 * hidden, of characters with which no shell does anything, and none that is a path, an address or an option.
 */
const VALUE_CHARS = 4_096
const VALUE = /^[\p{L}\p{N}_.~+/=:@%!#*?-]+$/u
const PLACE = /^(?:\/|\.{1,2}\/|~|-)|:\/\//
/** What begins with a slash may be base64 as well as a path. */
const BASE64 = /^(?=.*[A-Z])(?=.*[a-z])(?=.*\d)[A-Za-z0-9+/]{32,}={0,2}$/
/** Under a name that says so, with `Bearer` before it. */
const WITH_SCHEME = /^(?<scheme>(?:apikey|basic|bearer|digest|token) )(?<value>\S+)$/i
const COOKIES = /^[\w.-]{1,128}=[^\s;]*(?:; ?[\w.-]{1,128}=[^\s;]*)*;?$/

const MASK = '⟦hidden'
/** How many characters were hidden is said, and never which. */
export const maskText = (chars: number): string => `${MASK}, ${chars} characters⟧`
export const HIDDEN = `${MASK}⟧`

export const isMask = (text: string): boolean => text.startsWith(MASK)

/** Whether a preview hides something. Nobody else can write the mark: it is written by its number in what others wrote. */
export const hasMask = (text: string): boolean => text.includes(MASK)

/** Whether a text can be nothing but a secret where one is expected. */
const isSecretValue = (text: string): boolean =>
  text.length <= VALUE_CHARS && VALUE.test(text) && (!PLACE.test(text) || BASE64.test(text))

/** Whether it looks as if it had been drawn by lot. In lists of secrets only that is hidden: a command is a list of words, too. */
export const isDrawn = (text: string): boolean =>
  text.length >= 8 && isSecretValue(text) && /^(?=.*\d)(?=.*\p{L})[^/.]+$/u.test(text)

/** A secret that stands under its name, with its parts that are none; undefined where it can be something else. */
export function maskedValue(text: string): string | undefined {
  if (isSecretValue(text)) return maskText(text.length)
  const { scheme = '', value = '' } = WITH_SCHEME.exec(text)?.groups ?? {}
  if (isSecretValue(value)) return scheme + maskText(value.length)
  return text.length <= VALUE_CHARS && COOKIES.test(text) ? maskedCookies(text) : undefined
}

function maskedCookies(text: string): string | undefined {
  const parts = text.split(/(; ?)/).map((part) => {
    const [name = '', value = ''] = splitOnce(part, '=')
    return isSecretValue(value) ? `${name}=${maskText(value.length)}` : part
  })
  const shown = parts.join('')
  return shown === text ? undefined : shown
}

function splitOnce(text: string, by: string): readonly string[] {
  const at = text.indexOf(by)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + by.length)]
}
