import type { JsonObject } from '@parley/protocol'

/** What a model reads before the result of a call whose arguments a person had changed. */
export const editedText = (sent: JsonObject): string =>
  `A person changed the arguments of this call before it was made. It was made with: ${JSON.stringify(sent)}`

/** What a model reads before the result of a call to which whoever approved it had something to say. */
export const approvedText = (said: string): string => `The person who approved this call says: ${JSON.stringify(said)}`
