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
