import { ModelScript, parseJson, RecentMap } from '@parley/protocol'
import type { Logger } from 'pino'

/** Files of answers, by name. */
export interface Scripts {
  read(name: string): Promise<string | undefined>
  names(): Promise<readonly string[]>
}

const PARSED_MAX = 64
const NAMES_SHOWN_MAX = 20

export type ReadScript =
  | { readonly kind: 'read'; readonly script: ModelScript }
  | { readonly kind: 'broken'; readonly error: string }

/** The scripts of `script` channels, read anew and parsed once as long as their text stays the same. */
export interface ScriptFiles {
  read(name: string): Promise<ReadScript>
  /** Those there are, for a hint. */
  hint(): Promise<string>
}

export function openScriptFiles(scripts: Scripts | undefined, log: Logger): ScriptFiles {
  const parsed = new RecentMap<string, { readonly text: string; readonly outcome: ReadScript }>(PARSED_MAX)
  return {
    async read(name) {
      let text: string | undefined
      try {
        text = await scripts?.read(name)
      } catch (error) {
        // One file that cannot be read must not keep every model from being listed.
        log.error({ err: error, script: name }, 'a script cannot be read')
        return { kind: 'broken', error: `script_broken: ${name} cannot be read; the log says why` }
      }
      if (text === undefined) return { kind: 'broken', error: `script_missing: there is no script ${name}` }
      const known = parsed.get(name)
      if (known?.text === text) return known.outcome
      const outcome = parse(name, text)
      parsed.set(name, { text, outcome })
      return outcome
    },
    async hint() {
      const names = (await scripts?.names()) ?? []
      if (names.length === 0) return 'there are no scripts'
      const more = names.length > NAMES_SHOWN_MAX ? ', …' : ''
      return `there are: ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more}`
    },
  }
}

function parse(name: string, text: string): ReadScript {
  const script = ModelScript.safeParse(parseJson(text))
  if (script.success) return { kind: 'read', script: script.data }
  const issue = script.error.issues[0]
  const at = (issue?.path ?? []).map(String).join('.')
  const fault = issue === undefined ? 'is wrong' : `${at === '' ? '' : `${at}: `}${issue.message}`
  return { kind: 'broken', error: `script_broken: ${name} is no script: ${fault}` }
}
