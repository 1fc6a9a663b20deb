/** What is wrong with a condition, and what its author can do about it. */
export class ConditionFault extends Error {
  readonly hint: string
  constructor(message: string, hint: string) {
    super(message)
    this.name = 'ConditionFault'
    this.hint = hint
  }
}
