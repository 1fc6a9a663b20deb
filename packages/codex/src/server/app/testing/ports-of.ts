import type { Backend } from '../../../backend/backend.ts'

/** The same backend with some of its ports replaced; whoever made it closes it. */
export function portsOf(backend: Backend, replaced: Partial<Backend>): Backend {
  const { engine, version, conversations, settings, account, workspace } = backend
  return {
    engine,
    version,
    conversations,
    settings,
    account,
    workspace,
    open: (order, listener) => backend.open(order, listener),
    resume: (which, order, listener) => backend.resume(which, order, listener),
    close: () => Promise.resolve(),
    ...replaced,
  }
}
