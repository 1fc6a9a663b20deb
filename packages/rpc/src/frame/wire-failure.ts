import type { JsonValue } from '@parley/protocol'

/** The other side answered with an error, or a handler wants it to be answered with one. */
export class RemoteFailure extends Error {
  readonly code: number
  readonly data: JsonValue | undefined
  constructor(code: number, message: string, data?: JsonValue) {
    super(message)
    this.name = 'RemoteFailure'
    this.code = code
    this.data = data
  }
}

/** The other side ended, or did not answer in time. */
export class PeerGone extends Error {
  readonly code = 'peer_gone'
  constructor(message: string) {
    super(message)
    this.name = 'PeerGone'
  }
}
