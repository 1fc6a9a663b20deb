import type { ResourceRequest } from './served-resource.ts'

/** Watches topics of the store as one. */
export function watchTopics({ world }: ResourceRequest, topics: readonly string[], changed: () => void): () => void {
  const ends = topics.map((topic) => world.store.topics.subscribe(topic, changed))
  return () => {
    for (const end of ends) end()
  }
}
