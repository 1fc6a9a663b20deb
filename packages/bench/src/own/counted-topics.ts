import type { Store } from '@parley/store'

/** The same store, counting who is subscribed to a topic: a dead session must leave nothing behind here. */
export function countTopics(store: Store): { readonly store: Store; readonly subscriptions: () => number } {
  let open = 0
  const counted = (end: () => void): (() => void) => {
    open += 1
    let ended = false
    return () => {
      if (ended) return
      ended = true
      open -= 1
      end()
    }
  }
  const topics: Store['topics'] = {
    publish: (topic) => store.topics.publish(topic),
    subscribe: (topic, changed) => counted(store.topics.subscribe(topic, changed)),
    hears: () => store.topics.hears(),
    subscribePrefix: (prefix, changed) => counted(store.topics.subscribePrefix(prefix, changed)),
  }
  return {
    subscriptions: () => open,
    store: {
      engine: store.engine,
      logs: store.logs,
      leases: store.leases,
      blobs: store.blobs,
      topics,
      users: store.users,
      tokens: store.tokens,
      signIns: store.signIns,
      audit: store.audit,
      settings: store.settings,
      jobs: store.jobs,
      shares: store.shares,
      judges: store.judges,
      workers: store.workers,
      gateways: store.gateways,
      agents: store.agents,
      chats: store.chats,
      news: store.news,
      backgroundCalls: store.backgroundCalls,
      prompts: store.prompts,
      approvals: store.approvals,
      policies: store.policies,
      grants: store.grants,
      channels: store.channels,
      modelKeys: store.modelKeys,
      usages: store.usages,
      quotas: store.quotas,
      now: store.now,
      ping: () => store.ping(),
      backup: (file) => store.backup(file),
      close: () => store.close(),
    },
  }
}
