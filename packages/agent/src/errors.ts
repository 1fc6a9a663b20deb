/** A turn is under way: wait for its end, or steer it. */
export class ConversationBusy extends Error {
  readonly code = 'conversation_busy'
  constructor(id: string) {
    super(`conversation ${id} has a turn under way`)
    this.name = 'ConversationBusy'
  }
}

/** The conversation was closed: resume it by its id. */
export class ConversationClosed extends Error {
  readonly code = 'conversation_closed'
  constructor(id: string) {
    super(`conversation ${id} is closed`)
    this.name = 'ConversationClosed'
  }
}

/** Nobody knows a conversation of this id: open a new one. */
export class ConversationUnknown extends Error {
  readonly code = 'conversation_unknown'
  constructor(id: string) {
    super(`there is no conversation ${id}`)
    this.name = 'ConversationUnknown'
  }
}

/** What was handed over cannot be worked with: the message names the field. */
export class InvalidArgument extends Error {
  readonly code = 'invalid_argument'
  readonly field: string
  constructor(field: string, why: string) {
    super(`${field} ${why}`)
    this.name = 'InvalidArgument'
    this.field = field
  }
}
