/** Somebody else goes on with this conversation: wait until they close it. */
export class ConversationLocked extends Error {
  readonly code = 'conversation_locked'
  constructor(id: string, options?: ErrorOptions) {
    super(`conversation ${id} is held by another writer`, options)
    this.name = 'ConversationLocked'
  }
}

/** The log of a conversation cannot be read as one: look at the line it names. */
export class TranscriptDamaged extends Error {
  readonly code = 'transcript_damaged'
  constructor(id: string, why: string, options?: ErrorOptions) {
    super(`the transcript of conversation ${id} is damaged: ${why}`, options)
    this.name = 'TranscriptDamaged'
  }
}
