import type { Account } from './api.ts'
import { element } from './element.ts'

/** Who you are here, and the way out. */
export function accountCard(account: Account, leave: () => void): HTMLElement {
  const role = account.admin ? 'user, admin' : account.role
  return element(
    'section',
    { class: 'card' },
    element('h2', {}, `Hello, ${account.name}`),
    element(
      'dl',
      {},
      ...row('Role', role),
      ...row('Signed in until', account.expiresAt === null ? 'you sign out' : new Date(account.expiresAt).toLocaleString()),
      ...row('MCP', element('code', {}, `${location.origin}/mcp`)),
      ...row('WebSocket', element('code', {}, `${location.origin.replace(/^http/, 'ws')}/api/mcp/ws`)),
    ),
    element('button', { type: 'button', class: 'plain', click: leave }, 'Sign out'),
  )
}

function row(name: string, value: Node | string): readonly HTMLElement[] {
  return [element('dt', {}, name), element('dd', {}, value)]
}
