import { hunkBody, lineDiff, linesWithEnds } from '@parley/agent'

/** The whole of two texts as one unified difference; empty where they are the same or there is nothing to start from. */
export function fullDiff(before: string, after: string, name: string): string {
  if (before === after || before === '') return ''
  const old = linesWithEnds(before)
  const fresh = linesWithEnds(after)
  const head = `--- a/${name}\n+++ b/${name}\n@@ -${rangeOf(old)} +${rangeOf(fresh)} @@\n`
  return head + hunkBody(lineDiff(old, fresh), old, fresh, 0)
}

const rangeOf = ({ length }: readonly string[]): string => (length === 0 ? '0,0' : `1,${length}`)
