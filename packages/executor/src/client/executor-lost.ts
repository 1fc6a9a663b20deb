/** The executor, or what it knew of us, is gone for good: its processes cannot be reached any more. Start them anew, there or elsewhere. */
export class ExecutorLost extends Error {
  readonly code = 'executor_lost'
  constructor(reason: string) {
    super(`the executor is lost: ${reason}`)
    this.name = 'ExecutorLost'
  }
}
