const MASK = '[redacted]'

/** Anything that looks like a secret of ours or a JWT, wherever it stands in a line. */
const SHAPES = [
  /\b(?:pat|jdg|agt|lnk|mdl)_[A-Za-z0-9_-]{40,}/g,
  /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g,
  /\b(?:bearer)[ .]+(?!\[redacted\])[A-Za-z0-9\-._~+/]+=*/gi,
  /(?<=[?&](?:token|access_token)=)[^&\s"'\\]+/gi,
]

/** Makes a function that masks secrets in a text: those it is told, and everything that has the shape of one. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const literals = secrets.flatMap((secret) =>
    secret === '' ? [] : [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)],
  )
  return (text) => {
    let safe = text
    for (const literal of literals) safe = safe.replaceAll(literal, MASK)
    for (const shape of SHAPES) safe = safe.replace(shape, MASK)
    return safe
  }
}
