import { type JsonObject, type JsonValue, RPC_CODES, type RpcCodeName } from '@parley/protocol/wire'

/** The other side answered with an error, or a handler wants it to be answered with one. */
export class RemoteFailure extends Error {
  readonly code: number
  readonly data: JsonValue | undefined
  constructor(code: number | RpcCodeName, message: string, data?: JsonValue) {
    super(message)
    this.name = 'RemoteFailure'
    this.code = typeof code === 'number' ? code : RPC_CODES[code]
    this.data = data
  }

  /** Of the `error` of an answer. */
  static of({ code, message, data }: JsonObject): RemoteFailure {
    return new RemoteFailure(
      typeof code === 'number' ? code : 'internal_error',
      typeof message === 'string' ? message : 'the other side failed and did not say how',
      data,
    )
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
