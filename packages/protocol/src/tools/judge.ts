import * as z from 'zod'
import { JobId } from '../ids.ts'
import { Language } from '../job/language.ts'
import { JOB_LIMITS } from '../job/limits.ts'
import { SandboxFacts } from '../job/report.ts'
import { EngineName } from '../job/spec.ts'
import { JobOffsets } from '../job/state.ts'
import { ADDS, READS, SETS, tool } from '../tool.ts'

/** What a judge is to do with the job it holds; in every answer to it, and pushed as `judge_control`. */
export const JudgeAction = z.enum(['continue', 'cancel'])
export type JudgeAction = z.infer<typeof JudgeAction>

export const MachineId = z.string().min(1).max(128)
const JudgeName = z.string().min(1).max(128)
/** 32 hex digits; every write of a judge shows it, and one of an earlier claim is `lease_lost`. */
export const ClaimId = z.string().regex(/^[0-9a-f]{32}$/, 'must be the claim_id that judge.claim_next gave')
export const Claimed = z.strictObject({ job_id: JobId, claim_id: ClaimId })

/** Jobs that one judge holds at most, guests among them. */
export const JUDGE_HOLDS_MAX = 1_024

/** What a judge tells about itself when it asks for work. */
export const JudgeFacts = z.object({
  version: z.string().max(64),
  languages: z.array(z.object({ language: Language, version: z.string().max(256) })).max(32),
  /** What writes solutions there; none: only code that is judged as it is. Left out: taken for one that has every engine. */
  engines: z.array(EngineName).max(EngineName.options.length).optional(),
  sandbox: SandboxFacts,
  slots: z.int().min(1).max(1_024),
  /** How many more it takes when its slots are full, one for each owner of whom it holds nothing. Left out: none. */
  guests: z.int().min(0).max(1_024).optional(),
  running: z.int().min(0).max(JUDGE_HOLDS_MAX),
})
export type JudgeFacts = z.infer<typeof JudgeFacts>

export const judgeClaimNext = tool({
  name: 'judge.claim_next',
  roles: ['judge'],
  doc: 'Takes the next job that waits, under a lease; waits up to `wait_ms` for one. Every accepted call about it renews the lease.',
  input: z.strictObject({
    /** Tells it from the other judges of its token. What a judge of another token says of the same machine is written down beside it. */
    machine_id: MachineId,
    /** What people call it. Left out: as its token is named, or by `machine_id` where that has no name. */
    name: JudgeName.optional(),
    wait_ms: z.int().min(0).max(JOB_LIMITS.waitMs).default(0),
    /** Left out (a judge that tells nothing): taken for one that knows every language. */
    facts: JudgeFacts.optional(),
    /**
     * What it holds, told by a judge whose slots are full. As long as no fewer than `facts.slots` of these claims hold, it gets only jobs
     * of owners who have none of them: one person's long jobs keep nobody else waiting. Left out: any job.
     */
    holding: z.array(Claimed).max(JUDGE_HOLDS_MAX).optional(),
  }),
  output: z.discriminatedUnion('claimed', [
    z.object({ claimed: z.literal(false), name: z.string().optional(), drain: z.boolean() }),
    z.object({
      claimed: z.literal(true),
      /** What people call the judge here. */
      name: z.string().optional(),
      job_id: JobId,
      owner_user_id: z.string().nullable(),
      claim_id: ClaimId,
      claim: z.int(),
      /** The claim before this one, unless it was given back: nobody else has written to the job's logs since. */
      previous_claim_id: ClaimId.optional(),
      lease_ms: z.int(),
      offsets: JobOffsets,
      /** True: finish what you hold and ask no more until this is false. */
      drain: z.boolean(),
    }),
  ]),
  annotations: ADDS,
})

export const judgeReleaseClaim = tool({
  name: 'judge.release_claim',
  roles: ['judge'],
  doc: 'Gives a job back: one that ended leaves the queue, any other waits for the next judge. `unfinished`: it was not the job’s fault, so the claim does not count.',
  input: Claimed.extend({ reason: z.enum(['done', 'unfinished', 'unsupported']).default('done') }),
  output: z.object({ released: z.literal(true) }),
  annotations: SETS,
})

export const judgeHeartbeat = tool({
  name: 'judge.heartbeat',
  roles: ['judge'],
  doc: 'Renews the lease when nothing else does, and says whether the job was cancelled.',
  input: Claimed,
  output: z.object({ ok: z.literal(true), action: JudgeAction, lease_expires_at: z.iso.datetime() }),
  annotations: SETS,
})

export const judgeInputList = tool({
  name: 'judge.input.list',
  roles: ['judge'],
  doc: 'The files of the job: `job.json` and those under `tests/`.',
  input: Claimed,
  output: z.object({ items: z.array(z.object({ path: z.string(), size: z.int(), sha256: z.string() })), action: JudgeAction }),
  annotations: READS,
})

export const judgeInputReadChunk = tool({
  name: 'judge.input.read_chunk',
  roles: ['judge'],
  doc: 'Bytes of one file of the job from an offset.',
  input: Claimed.extend({
    path: z.string().min(1).max(1_024),
    offset: z.int().min(0).default(0),
    max_bytes: z.int().min(1).max(JOB_LIMITS.chunkBytes).default(JOB_LIMITS.chunkBytes),
  }),
  output: z.object({ path: z.string(), chunk_b64: z.string(), next_offset: z.int(), eof: z.boolean(), action: JudgeAction }),
  annotations: READS,
})

/** A judge as admins see it. */
export const Judge = z.object({
  machine_id: z.string(),
  name: z.string(),
  state: z.enum(['idle', 'busy', 'draining', 'gone']),
  drain: z.boolean(),
  first_seen_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
  jobs: z.array(JobId),
  facts: JudgeFacts.nullable(),
})
export type Judge = z.infer<typeof Judge>

export const judgeList = tool({
  name: 'judge.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The judges that are here, with load, version, languages, engines and what their sandbox enforces; `gone: true` adds those of the last day that left.',
  input: z.strictObject({ gone: z.boolean().default(false) }),
  output: z.object({ items: z.array(Judge) }),
  annotations: READS,
})

export const judgeDrain = tool({
  name: 'judge.drain',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Tells a judge to finish what it holds and take no more; `drain: false` takes it back.',
  input: z.strictObject({ machine_id: MachineId, drain: z.boolean().default(true) }),
  output: z.object({ machine_id: z.string(), drain: z.boolean() }),
  annotations: SETS,
})
