import type { SignedInUser } from './api.ts'
import { element } from './element.ts'

/** Who you are here, where programs connect and `more`, folded away below what one came for. */
export function accountCard({ name, admin, role, expiresAt }: SignedInUser, ...more: readonly HTMLElement[]): HTMLElement {
  return element(
    'details',
    { class: 'card account' },
    element('summary', {}, 'Your account and the addresses for programs'),
    element(
      'dl',
      {},
      ...row('Name', name),
      ...row('Role', admin ? `${role} with admin rights` : role),
      ...row('Signed in until', expiresAt === null ? 'you sign out' : new Date(expiresAt).toLocaleString()),
      ...row('MCP', element('code', {}, `${location.origin}/mcp`)),
      ...row('WebSocket', element('code', {}, `${location.origin.replace(/^http/, 'ws')}/api/mcp/ws`)),
    ),
    ...more,
  )
}

/** The name in the corner, and the way out. */
export function accountCorner({ name }: SignedInUser, leave: () => void): readonly HTMLElement[] {
  return [
    element('span', { class: 'who' }, name),
    element('button', { type: 'button', class: 'plain small', click: leave }, 'Sign out'),
  ]
}

function row(name: string, value: Node | string): readonly HTMLElement[] {
  return [element('dt', {}, name), element('dd', {}, value)]
}
