import type { Ready } from '../gateway-process/plan.ts'

/** What a person sees when everything is up. */
export function readyMessage({ url, mcp, ws, sign_in, data }: Ready): string {
  const signIn = sign_in === null ? [] : ['', 'Sign in by this link. It works once, within 15 minutes:', `  ${sign_in}`]
  return [
    'Parley is ready.',
    '',
    `  page  ${url}/`,
    `  MCP   ${mcp}`,
    `  ws    ${ws}`,
    `  data  ${data}`,
    ...signIn,
    '',
    'This version has no judge yet. Ctrl-C stops everything; `parley --help` lists what else there is.',
    '',
  ].join('\n')
}
