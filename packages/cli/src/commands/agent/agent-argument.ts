/** The agent that a command is about. */
export const AGENT = {
  name: 'AGENT',
  doc: 'its id, a beginning of it that no other has, the name of one of yours, or @last',
} as const
