import type { Ready } from '../gateway-process/plan.ts'
import type { HostReady } from '../host-process/plan.ts'
import type { JudgeReady } from '../judge-process/plan.ts'

/** The same under the address by which people know it. */
export function readyAt(ready: Ready, publicUrl: string | undefined): Ready {
  if (publicUrl === undefined) return ready
  const url = publicUrl.replace(/\/+$/, '')
  return { ...ready, url, mcp: `${url}/mcp`, ws: `${url.replace(/^http/, 'ws')}/api/mcp/ws` }
}

/** What a person sees when everything is up. `workers` say in a few words whether there will be one, `signIn` how to get in. */
export function readyMessage(
  { url, mcp, ws, data }: Ready,
  workers: { readonly judge: string; readonly host: string },
  signIn: readonly string[],
): string {
  return [
    'Parley is ready.',
    '',
    `  page   ${url}/`,
    `  MCP    ${mcp}`,
    `  ws     ${ws}`,
    `  data   ${data}`,
    `  judge  ${workers.judge}`,
    `  host   ${workers.host}`,
    '',
    ...signIn,
    '',
    'Ctrl-C stops everything; parley --help lists what else there is.',
    '',
  ].join('\n')
}

/** One line about a judge that is ready for work. */
export function judgeMessage({ name, slots, languages, sandbox }: JudgeReady): string {
  const names = languages.map(({ language }) => language).join(', ')
  return `The judge ${name} is ready: ${slots} ${slots === 1 ? 'job' : 'jobs'} at once, sandbox ${sandbox.driver} (${sandbox.tier}), ${names === '' ? 'no language found' : names}.\n`
}

/** One line about a host that takes part. */
export function hostMessage({ name, slots }: HostReady): string {
  return `The host ${name} is ready: ${slots} ${slots === 1 ? 'agent' : 'agents'} at once.\n`
}
