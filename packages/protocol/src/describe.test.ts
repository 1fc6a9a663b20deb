import { expect, test } from 'vitest'
import * as z from 'zod'
import { COMPOSITOR_TOOLS, READS, TOOLS, describeTool, tool } from './index.ts'

test('what tools list has no format but those that JSON Schema names', () => {
  const formatsIn = (value: unknown): unknown[] => {
    if (typeof value !== 'object' || value === null) return []
    const own = 'format' in value && typeof value.format === 'string' ? [value.format] : []
    return [...own, ...Object.values(value).flatMap(formatsIn)]
  }
  const listed = [...Object.values(TOOLS), ...Object.values(COMPOSITOR_TOOLS)].map((spec) => describeTool(spec))
  expect(new Set(listed.flatMap((described) => formatsIn([described.inputSchema, described.outputSchema])))).toEqual(
    new Set(['date-time', 'uri']),
  )
  const { folder } = Object(describeTool(TOOLS['agent.update']).inputSchema['properties'])
  expect(folder.anyOf[0]).toEqual({ type: 'string', maxLength: 4_096, pattern: '^\\/.*' })
})

test('a tool is listed with closed arguments and a result that may grow', () => {
  const spec = tool({
    name: 'demo.read',
    roles: ['user'],
    doc: 'Reads a demo.',
    input: z.strictObject({ since: z.iso.datetime(), limit: z.int().min(1).max(9).default(3) }),
    output: z.object({ count: z.int(), inner: z.object({ at: z.iso.datetime().nullable() }) }),
    annotations: { ...READS, title: 'Demo' },
  })
  expect(describeTool(spec)).toEqual({
    name: 'demo.read',
    title: 'Demo',
    description: 'Reads a demo.',
    inputSchema: {
      type: 'object',
      properties: {
        since: { type: 'string', format: 'date-time' },
        limit: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
      },
      required: ['since'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        count: { type: 'integer' },
        inner: {
          type: 'object',
          properties: { at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] } },
          required: ['at'],
        },
      },
      required: ['count', 'inner'],
    },
    annotations: { title: 'Demo', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  })
})

test('answers that a flag tells apart are listed as one object', () => {
  const spec = tool({
    name: 'demo.take',
    roles: ['user'],
    doc: 'Takes a demo.',
    input: z.strictObject({}),
    output: z.discriminatedUnion('taken', [
      z.object({ taken: z.literal(false), why: z.string(), left: z.int() }),
      z.object({ taken: z.literal(true), id: z.string(), left: z.int() }),
    ]),
    annotations: READS,
  })
  const { outputSchema } = describeTool(spec)
  expect(outputSchema).toEqual({
    type: 'object',
    properties: { taken: { type: 'boolean' }, why: { type: 'string' }, id: { type: 'string' }, left: { type: 'integer' } },
    required: ['taken', 'left'],
  })
  expect(Object.keys(Object(outputSchema['properties']))).toEqual(['taken', 'why', 'id', 'left'])
})

test.each(Object.values(TOOLS))('$name refuses arguments it does not know', (spec) => {
  expect(spec.input.safeParse({ surprise: true }).error?.issues.map((issue) => issue.code)).toContain('unrecognized_keys')
  expect(describeTool(spec).inputSchema['additionalProperties']).toBe(false)
})
