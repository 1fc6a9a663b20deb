import * as z from 'zod'

/** How a model is spoken to: OpenAI's Responses API or its Chat Completions, both streaming. */
export const ModelWire = z.enum(['responses', 'chat'])
export type ModelWire = z.infer<typeof ModelWire>
