import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../service.ts'
import type { Headers } from './answer.ts'
import type { ResponseOver } from './response-over.ts'

/** One POST, GET or DELETE of an authenticated caller. */
export interface Exchange<C extends Caller> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly over: ResponseOver
  readonly caller: C
  readonly remoteAddress: string
  readonly headers: Headers | undefined
  /** Asks the door whether the caller may still come in. */
  again(): C | Promise<C>
  /** Answers what the door threw. */
  refuse(error: unknown, more?: Headers): void
}
