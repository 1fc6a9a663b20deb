/** "This changed", by name. Subscribers read again. A notice carries no content, so one that is lost or doubled does no harm. */
export interface Topics {
  publish(topic: string): Promise<void>
  /**
   * Whether what others published has been heard, up to less than a second ago. When not (the database's connection hangs or
   * is lost), whatever is remembered because nobody said otherwise may be wrong.
   */
  hears(): boolean
  /** Called once per change or run of changes, never before `subscribe` returned. The answer ends it. */
  subscribe(topic: string, changed: () => void): () => void
  /**
   * Every topic that starts so: for caches that must forget what others changed. Called with the prefix itself when words
   * may have got lost (the database's connection was): then any of them may have changed.
   */
  subscribePrefix(prefix: string, changed: (topic: string) => void): () => void
}
