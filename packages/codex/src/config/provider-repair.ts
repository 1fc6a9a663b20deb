import type { ProviderRepair } from './provider-check.ts'
import { addTable, parseToml, replaceValue } from './toml-edit.ts'

/** What is changed where, before it is done: `before` and `after` are whole files, an empty `before` is a new one. */
export interface PlannedEdit {
  readonly file: string
  readonly before: string
  readonly after: string
}

const PROFILE = 'parley'

/** The edit that repairs, and the profile that uses it where it is one. Nothing but what is named is changed. */
export function planRepair(
  repair: ProviderRepair,
  config: string,
): { readonly edit: PlannedEdit; readonly profile: string | null } {
  const file = 'config.toml'
  if (repair.kind === 'in-place') {
    let after = config
    for (const name of repair.providers) after = replaceValue(after, ['model_providers', name, 'wire_api'], 'responses')
    return { edit: { file, before: config, after }, profile: null }
  }
  const { providerId, provider, model } = repair
  const profile = freeProfile(config)
  const opened = `${config}${config === '' || config.endsWith('\n') ? '' : '\n'}\n# ${repair.reason}\n`
  const withProvider = addTable(opened, ['model_providers', providerId], provider)
  const settings = { ...(model === null ? {} : { model }), model_provider: providerId }
  return { edit: { file, before: config, after: addTable(withProvider, ['profiles', profile], settings) }, profile }
}

function freeProfile(text: string): string {
  const profiles = parseToml(text)['profiles']
  const taken = typeof profiles === 'object' && profiles !== null ? profiles : {}
  for (let number = 1; ; number++) {
    const name = number === 1 ? PROFILE : `${PROFILE}-${number}`
    if (!Object.hasOwn(taken, name)) return name
  }
}

/** A unified diff of an edit, from its first changed line to its last. */
export function diffText({ file, before, after }: PlannedEdit): string {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  const gone = old.slice(start, old.length - end)
  const come = fresh.slice(start, fresh.length - end)
  const from = before === '' ? '/dev/null' : file
  const at = (count: number): string => `${count === 0 ? start : start + 1},${count}`
  const body = [...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)]
  return `--- ${from}\n+++ ${file}\n@@ -${at(gone.length)} +${at(come.length)} @@\n${body.join('\n')}\n`
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
