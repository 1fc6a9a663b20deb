import type { JsonObject } from '@parley/protocol'

/** What a model reads before the result of a call whose arguments a person had changed. */
export const editedText = (sent: JsonObject): string =>
  `A person changed the arguments of this call before it was made. It was made with: ${JSON.stringify(sent)}`
