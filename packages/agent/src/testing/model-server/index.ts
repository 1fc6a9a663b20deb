import { fileURLToPath } from 'node:url'

export {
  type Answer,
  FAILURES,
  type Manner,
  type ModelReply,
  type Piece,
  type ReplyEnd,
  type ReplyUsage,
  type StatusReply,
  errorReply,
} from './answer.ts'
export { byTurn } from './by-turn.ts'
export { type ModelServer, type ModelServerOptions, openModelServer, type ReceivedRequest } from './model-server.ts'

/** The same as a program, to be measured and killed: what it takes and prints is written there. */
export const MODEL_SERVER_MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
