import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { turn } from '@parley/agent/testing'
import { type ReceivedRequest, errorReply } from '@parley/agent/testing/model-server'
import type { TranscriptEntry } from '@parley/agent'
import { Tolerance } from '../../model/tolerance.ts'
import { WIRES } from '../../model/wires.ts'
import type { ModelItem, ModelRequest, ModelTool } from '../../model/model.ts'
import { openTalk } from '../fixture/mini-talk.ts'
import { handedOverText } from '../compaction/render.ts'
import { userItem } from '../item.ts'
import { MiniEntry } from './entry.ts'
import { foldTranscript } from './fold-transcript.ts'

type Entry<Type extends MiniEntry['type']> = Extract<MiniEntry, { type: Type }>

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const SCHEMA = { type: 'object', properties: {}, required: [], additionalProperties: false }

/** Makes every request of a log again, by nothing but the log. */
function requestsOf(id: string, entries: readonly TranscriptEntry[]): ModelRequest[] {
  const log = entries.map((entry) => MiniEntry.parse(entry))
  const last = <Type extends MiniEntry['type']>(before: number, type: Type): Entry<Type> | undefined =>
    log.slice(0, before).findLast((entry): entry is Entry<Type> => entry.type === type)
  const itemsAt = (before: number): readonly ModelItem[] => foldTranscript(id, entries.slice(0, before))?.history.items() ?? []
  const itemsBy = (seqs: readonly number[], before: number): ModelItem[] =>
    foldTranscript(id, entries.slice(0, before))
      ?.history.held.filter(({ seq }) => seqs.includes(seq))
      .map(({ item }) => item) ?? []
  const requests = log.entries().filter((one): one is [number, Entry<'request'>] => one[1].type === 'request')
  return [...requests].map(([at, { model, handed_over: handedOver, tools_sha256: sha256 }]) => {
    if (handedOver !== null) {
      const text = handedOverText(itemsBy(handedOver.seqs, at), handedOver.characters)
      const input = [userItem([{ type: 'text', text }])]
      return { model, instructions: handedOver.instructions, input, tools: [], parallelToolCalls: false }
    }
    const tools = log.find((entry): entry is Entry<'tools'> => entry.type === 'tools' && entry.sha256 === sha256)?.tools
    const schema = last(at, 'turn')?.output_schema
    return {
      model,
      instructions: last(at, 'resumed')?.instructions ?? last(at, 'opened')?.instructions ?? '',
      input: itemsAt(at),
      tools: (tools ?? []).map(toolOf),
      parallelToolCalls: true,
      cacheKey: id,
      ...(schema === null || schema === undefined ? {} : { outputSchema: schema }),
    }
  })
}

function toolOf({ name, description, parameters, strict }: JsonObject): ModelTool {
  if (typeof name !== 'string' || typeof description !== 'string' || typeof strict !== 'boolean') throw new TypeError('no tool')
  if (parameters === null || typeof parameters !== 'object' || Array.isArray(parameters)) throw new TypeError('no parameters')
  return { name, description, parameters, strict }
}

const isSummary = ({ body }: ReceivedRequest): boolean => JSON.stringify(body).includes('Write the summary now')

test.for(['responses', 'chat'] as const)(
  'over %s every request can be made again from the log, and every answer stands in it',
  async (wire) => {
    let made = 0
    const answer = (request: ReceivedRequest) => {
      if (isSummary(request)) return { pieces: [{ reasoning: 'what matters' }, { text: 'SUMMARY as it came' }] }
      made += 1
      if (made === 3) return errorReply(503, null, 'come back later', { headers: { 'retry-after-ms': '1' } })
      if (made > 14) return done
      const text = `result-${made} ${'word '.repeat(300)}`
      return { pieces: [{ reasoning: `thought-${made}` }, { call: 'contract_echo', arguments: { text }, id: `c${made}` }] }
    }
    await using talk = await openTalk({
      wire,
      answers: Array.from({ length: 60 }, () => answer),
      mini: { facts: () => ({ contextTokens: 8_000, maxOutputTokens: null, prices: null }) },
    })
    expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
    const { conversation } = await talk.resume({ instructions: 'Be longer.' })
    const started = conversation.submit({ input: [{ type: 'text', text: 'on' }], outputSchema: SCHEMA })
    expect(await started.ended).toEqual(COMPLETED)
    const entries = talk.entries()
    const bodies = requestsOf(conversation.id, entries).map((request) => WIRES[wire].body(request, new Tolerance()))
    // The one that failed was sent twice, and the log has both ends.
    const sent = talk.world.requests.filter((_, index) => index !== 2).map(({ body }) => body)
    expect(JSON.parse(JSON.stringify(bodies))).toEqual(sent)
    expect(sent.some((body) => JSON.stringify(body).includes('Write the summary now'))).toBe(true)
    const exchanges = entries.filter(({ type }) => type === 'exchange')
    expect(exchanges).toHaveLength(talk.world.requests.length)
    expect(exchanges.map(({ exchange }) => exchange)).toContainEqual(
      expect.objectContaining({ status: 503, outcome: 'failed', error: expect.stringContaining('come back later') }),
    )
    const said = JSON.stringify(entries.filter(({ type }) => type === 'item' || type === 'unkept'))
    for (const words of ['"SUMMARY as it came"', 'what matters', 'thought-14', '"done"']) expect(said).toContain(words)
  },
)

test('thoughts that are not sent back stand in the log, and so does what a provider does not know', async () => {
  const thinking = { pieces: [{ text: 'first' }, { reasoning: 'Hm.', encrypted: 'sealed' }] }
  const refusal = errorReply(400, null, "Unknown parameter: 'include'", { param: 'include' })
  await using talk = await openTalk({ answers: [refusal, thinking, done] })
  expect(await turn(talk.conversation, 'go')).toEqual({ kind: 'completed', message: 'first' })
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
  const entries = talk.entries()
  expect(JSON.stringify(entries.filter(({ type }) => type === 'unkept'))).toContain('sealed')
  const leftOut = entries.flatMap(({ type, exchange }) => (type === 'exchange' ? [exchange] : []))
  expect(leftOut).toMatchObject([{ leftOut: [] }, { leftOut: ['include'] }, { leftOut: ['include'] }])
})
