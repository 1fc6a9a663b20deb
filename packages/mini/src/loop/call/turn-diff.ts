import type { FileChange } from '@parley/agent'

/** A turn that changes more than this is not shown as one diff any longer. */
const DIFF_CHARACTERS = 1024 * 1024

/** All that the patches of a turn changed, one after the other, as one text that `patch -p1` takes. */
export class TurnDiff {
  #text = ''

  /** `undefined`: it has grown too large to be told again and again. */
  add(changes: readonly FileChange[]): string | undefined {
    if (this.#text.length <= DIFF_CHARACTERS) this.#text += changes.map(sectionOf).join('')
    return this.#text.length > DIFF_CHARACTERS ? undefined : this.#text
  }
}

function sectionOf({ path, kind, movedTo, diff }: FileChange): string {
  const before = kind === 'add' ? '/dev/null' : `a/${path}`
  const after = kind === 'delete' ? '/dev/null' : `b/${movedTo ?? path}`
  const end = diff === '' || diff.endsWith('\n') ? '' : '\n'
  return `--- ${before}\n+++ ${after}\n${diff}${end}`
}
