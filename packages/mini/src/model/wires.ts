import type { JsonObject, ModelWire } from '@parley/protocol'
import type { ModelRequest } from './model.ts'
import type { AnswerReader, ReaderOptions } from './answer-reader.ts'
import { chatBody } from './chat/chat-body.ts'
import { ChatReader } from './chat/chat-reader.ts'
import { responsesBody } from './responses/responses-body.ts'
import { ResponsesReader } from './responses/responses-reader.ts'
import type { Tolerance } from './tolerance.ts'

/** How one wire asks and is answered. */
export interface WireFormat {
  body(request: ModelRequest, tolerance: Tolerance): JsonObject
  reader(options: ReaderOptions): AnswerReader
}

export const WIRES: Readonly<Record<ModelWire, WireFormat>> = {
  responses: { body: responsesBody, reader: (options) => new ResponsesReader(options) },
  chat: { body: chatBody, reader: (options) => new ChatReader(options) },
}
