import * as z from 'zod'
import { type Usage, isJsonObject, parseJson } from '@parley/protocol'
import { type ClaimKey, type JobRecord, jobHolder } from '@parley/store'
import { wrong } from '../job/create-checks.ts'
import type { World } from '../tool/served-tool.ts'

const Count = z.int('must be a whole number').min(0, 'must not be negative')
const Tokens = z.object({
  input_tokens: Count,
  cached_input_tokens: Count.default(0),
  output_tokens: Count,
  cached_output_tokens: Count.default(0),
})
type Tokens = z.infer<typeof Tokens>

/** What is booked for one call of a model. */
const Booked = z.object({ model: z.string(), codex_thread_id: z.string().nullable(), usage: Tokens })
type Booked = z.infer<typeof Booked>

/** `usage.json` is written again when another call was booked meanwhile; so often at most. */
const WRITES_MAX = 5
const TEXT_MAX_CHARS = 256

/** The tokens of one call: as in `usage.json`, with its own `usage` inside, or flat. */
export function readUsage(document: Record<string, unknown>, model: string | null): Booked {
  const isNested = isJsonObject(document['usage'])
  const path = isNested ? 'usage.usage' : 'usage'
  const parsed = Tokens.safeParse(isNested ? document['usage'] : document)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw wrong([path, ...(issue?.path ?? []).map(String)].join('.'), issue?.message ?? 'is wrong')
  }
  const usage = parsed.data
  if (usage.cached_input_tokens > usage.input_tokens)
    throw wrong(`${path}.cached_input_tokens`, 'is a part of input_tokens, so it cannot be more')
  if (usage.cached_output_tokens > usage.output_tokens)
    throw wrong(`${path}.cached_output_tokens`, 'is a part of output_tokens, so it cannot be more')
  const text = (field: string): string | undefined => {
    const value = document[field]
    return typeof value === 'string' ? value.slice(0, TEXT_MAX_CHARS) : undefined
  }
  return { model: text('model') ?? model ?? '', codex_thread_id: text('codex_thread_id') ?? null, usage }
}

/** Brings `usage.json` up to what is booked. */
export async function writeUsage({ store }: World, key: ClaimKey, job: JobRecord, attempt: number): Promise<void> {
  let written = -1
  for (let tries = 0; tries < WRITES_MAX; tries += 1) {
    const calls = await store.jobs.usage(job.id)
    if (calls.length === written) return
    const document = sumOf(
      job,
      calls.map(({ body }) => Booked.parse(parseJson(body))),
    )
    const { sha256, bytes } = await store.blobs.put(Buffer.from(JSON.stringify(document)), jobHolder(job.id))
    await store.jobs.putArtifacts(key, [{ name: 'usage.json', attempt, sha256, bytes }])
    written = calls.length
  }
}

function sumOf(job: JobRecord, calls: readonly Booked[]): Usage {
  const total = (field: keyof Tokens): number => calls.reduce((sum, { usage }) => sum + usage[field], 0)
  const last = calls.at(-1)
  return {
    schema_version: 'usage.v1',
    job_id: job.id,
    codex_thread_id: last?.codex_thread_id ?? null,
    model: last?.model ?? '',
    usage: {
      input_tokens: total('input_tokens'),
      cached_input_tokens: total('cached_input_tokens'),
      output_tokens: total('output_tokens'),
      cached_output_tokens: total('cached_output_tokens'),
    },
    calls: calls.length,
  }
}
