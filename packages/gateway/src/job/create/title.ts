const TITLE_CHARS_MAX = 80
/** A title further down than this belongs to a section. */
const LOOKED_AT_CHARS = 4_096
const HEADING = /^ {0,3}#{1,6}[ \t]+(.+)$/m

/** What a job is called: what its owner says, else the statement's first heading or line. */
export function titleOf(given: string | undefined, statement: string): string {
  const start = statement.slice(0, LOOKED_AT_CHARS)
  const heading = HEADING.exec(start)?.[1]?.replace(/[ \t]+#+[ \t]*$/, '')
  const line = start.split('\n').find((text) => oneLine(text) !== '')
  return oneLine(given ?? '') || cut(oneLine(heading ?? '')) || cut(oneLine(line ?? '')) || 'untitled'
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim()

function cut(text: string): string {
  const characters = Array.from(text)
  return characters.length <= TITLE_CHARS_MAX ? text : `${characters.slice(0, TITLE_CHARS_MAX - 1).join('')}…`
}
