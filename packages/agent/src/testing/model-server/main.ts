/**
 * A model server as a process of its own, to be measured and killed. Its options are one JSON document, as the first
 * argument or in `MODEL_SERVER`: `{wire, port?, answers, by?, unsupported?}`; `by` is `turn` (as when left out: the same
 * request gets the same answer, also after a restart) or `order` (each answer once). Prints `{"url", "port", "pid"}` on
 * one line when it listens; SIGTERM ends it.
 */
import process, { argv, env, pid, stdout } from 'node:process'
import * as z from 'zod'
import { ModelWire } from '@parley/protocol'
import type { Answer } from './answer.ts'
import { byTurn } from './by-turn.ts'
import { openModelServer } from './model-server.ts'

/** Answers are written by tests and taken as they are. */
const isAnswer = (value: unknown): value is Answer => typeof value === 'object' && value !== null

const Options = z.strictObject({
  wire: ModelWire,
  port: z.int().min(0).max(65_535).default(0),
  answers: z.array(z.custom<Answer>(isAnswer)).min(1),
  by: z.enum(['turn', 'order']).default('turn'),
  unsupported: z.array(z.string()).default([]),
})

const { wire, port, answers, by, unsupported } = Options.parse(JSON.parse(argv[2] ?? env['MODEL_SERVER'] ?? 'null'))
const server = await openModelServer({
  wire,
  port,
  unsupported,
  answers: by === 'turn' ? byTurn(wire, answers) : answers,
  keptRequests: 1,
})
stdout.write(`${JSON.stringify({ url: server.url, port: server.port, pid })}\n`)
process.on('SIGTERM', () => void server.close())
