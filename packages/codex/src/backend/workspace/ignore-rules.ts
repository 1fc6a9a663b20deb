/** The rules of one `.gitignore`, for what lies below its folder. */
export interface IgnoreRules {
  /** True: ignored; false: expressly not; `undefined`: no rule speaks of it. */
  says(path: string, isFolder: boolean): boolean | undefined
}

interface Rule {
  readonly pattern: RegExp
  readonly ignores: boolean
  readonly foldersOnly: boolean
}

export const NO_RULES: IgnoreRules = { says: () => undefined }

/** Reads a `.gitignore` that lies in `folder`, a path below the root, or the root itself as ''. */
export function readRules(text: string, folder: string): IgnoreRules {
  const rules = text.split(/\r?\n/).flatMap((line) => ruleOf(line))
  const prefix = folder === '' ? '' : `${folder}/`
  return {
    says: (path, isFolder) => {
      if (!path.startsWith(prefix)) return undefined
      const below = path.slice(prefix.length)
      return rules.findLast(({ pattern, foldersOnly }) => (isFolder || !foldersOnly) && pattern.test(below))?.ignores
    },
  }
}

function ruleOf(line: string): Rule[] {
  const trimmed = line.replace(/(?<!\\)\s+$/, '')
  if (trimmed === '' || trimmed.startsWith('#')) return []
  const ignores = !trimmed.startsWith('!')
  const whole = ignores ? trimmed : trimmed.slice(1)
  const foldersOnly = whole.endsWith('/')
  const glob = foldersOnly ? whole.slice(0, -1) : whole
  // A slash anywhere but at the end binds the pattern to the folder of the file.
  const isBound = glob.includes('/')
  const source = sourceOf(glob.replace(/^\//, ''))
  try {
    return [{ pattern: new RegExp(`^${isBound ? '' : '(?:.*/)?'}${source}$`, 'u'), ignores, foldersOnly }]
  } catch {
    return []
  }
}

function sourceOf(glob: string): string {
  let source = ''
  for (let at = 0; at < glob.length; at++) {
    const rest = glob.slice(at)
    if (rest.startsWith('**/')) {
      source += '(?:.*/)?'
      at += 2
    } else if (rest === '**') {
      source += '.*'
      at += 1
    } else if (rest.startsWith('*')) source += '[^/]*'
    else if (rest.startsWith('?')) source += '[^/]'
    else {
      const set = /^\[(!|\^)?([^\]/]+)\]/.exec(rest)
      const letter = rest.startsWith('\\') ? rest.charAt(1) : rest.charAt(0)
      if (set === null) source += letter.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
      else source += `[${set[1] === undefined ? '' : '^'}${(set[2] ?? '').replaceAll(/[\\[\]&~]/g, String.raw`\$&`)}]`
      at += set === null ? (rest.startsWith('\\') ? 1 : 0) : set[0].length - 1
    }
  }
  return source
}
