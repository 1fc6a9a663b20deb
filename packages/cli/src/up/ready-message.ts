import type { Ready } from '../gateway-process/plan.ts'
import type { JudgeReady } from '../judge-process/plan.ts'

/** What a person sees when everything is up. `judge` says in a few words whether there will be one. */
export function readyMessage({ url, mcp, ws, sign_in, data }: Ready, judge: string): string {
  const signIn = sign_in === null ? [] : ['', 'Sign in by this link. It works once, within 15 minutes:', `  ${sign_in}`]
  return [
    'Parley is ready.',
    '',
    `  page   ${url}/`,
    `  MCP    ${mcp}`,
    `  ws     ${ws}`,
    `  data   ${data}`,
    `  judge  ${judge}`,
    ...signIn,
    '',
    'Ctrl-C stops everything; `parley --help` lists what else there is.',
    '',
  ].join('\n')
}

/** One line about a judge that is ready for work. */
export function judgeMessage({ name, slots, languages, sandbox }: JudgeReady): string {
  const names = languages.map(({ language }) => language).join(', ')
  return `The judge ${name} is ready: ${slots} ${slots === 1 ? 'job' : 'jobs'} at once, sandbox ${sandbox.driver} (${sandbox.tier}), ${names === '' ? 'no language found' : names}.\n`
}
