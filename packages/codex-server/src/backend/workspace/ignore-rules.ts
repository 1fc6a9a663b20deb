import { type Glob, globOf } from './glob.ts'

/** The rules of one `.gitignore`, for what lies below its folder. */
export interface IgnoreRules {
  /** True: ignored; false: expressly not; `undefined`: no rule speaks of it. */
  says(path: string, isFolder: boolean): boolean | undefined
}

interface Rule {
  readonly fits: Glob
  readonly ignores: boolean
  readonly foldersOnly: boolean
  /** Whether it is about the whole path below its file, or about a name anywhere. */
  readonly isBound: boolean
}

/** Of one file; every path is held against all of them. */
const RULES_MAX = 2_000

export const NO_RULES: IgnoreRules = { says: () => undefined }

/** Reads a `.gitignore` that lies in `folder`, a path below the root, or the root itself as ''. */
export function readRules(text: string, folder: string): IgnoreRules {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const rules = lines.flatMap((line) => ruleOf(line.endsWith('\r') ? line.slice(0, -1) : line)).slice(0, RULES_MAX)
  const prefix = folder === '' ? '' : `${folder}/`
  return {
    says: (path, isFolder) => {
      if (!path.startsWith(prefix)) return undefined
      const below = Buffer.from(path.slice(prefix.length))
      const name = below.subarray(below.lastIndexOf('/') + 1)
      const rule = rules.findLast(({ fits, foldersOnly, isBound }) => (isFolder || !foldersOnly) && fits(isBound ? below : name))
      return rule?.ignores
    },
  }
}

function ruleOf(line: string): Rule[] {
  const trimmed = withoutTrailingSpaces(line)
  if (trimmed === '' || trimmed.startsWith('#')) return []
  const ignores = !trimmed.startsWith('!')
  const whole = ignores ? trimmed : trimmed.slice(1)
  const foldersOnly = whole.endsWith('/')
  const glob = foldersOnly ? whole.slice(0, -1) : whole
  // A slash anywhere but at the end binds the pattern to the folder of the file.
  const isBound = glob.includes('/')
  const fits = globOf(Buffer.from(glob.startsWith('/') ? glob.slice(1) : glob))
  return fits === undefined ? [] : [{ fits, ignores, foldersOnly, isBound }]
}

/** Those that no backslash stands before. One pass: a line of nothing but spaces is as cheap as any other. */
function withoutTrailingSpaces(line: string): string {
  let end = 0
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at += 1
    else if (line[at] === ' ') continue
    end = at + 1
  }
  return line.slice(0, end)
}
