import * as z from 'zod'
import { AgentId } from '../ids.ts'
import { READS, tool } from '../tool.ts'

/** One line of who did what. `seq` grows by one; a gap would mean that something was taken out. */
export const AuditEntry = z.object({
  seq: z.int(),
  at: z.iso.datetime(),
  actor: z.string(),
  role: z.string(),
  action: z.string(),
  target: z.string().nullable(),
  outcome: z.enum(['ok', 'denied', 'failed']),
  code: z.string().nullable(),
  remote: z.string().nullable(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const auditSearch = tool({
  name: 'audit.search',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Searches the audit log, newest first; page on with `before_seq`. `audit.export` gives all of it in order.',
  input: z.strictObject({
    actor: z.string().max(128).optional(),
    action: z.string().max(128).optional(),
    outcome: z.enum(['ok', 'denied', 'failed']).optional(),
    since: z.iso.datetime().optional(),
    until: z.iso.datetime().optional(),
    before_seq: z.int().min(0).optional(),
    limit: z.int().min(1).max(1000).default(100),
  }),
  output: z.object({ items: z.array(AuditEntry), next_before_seq: z.int().nullable() }),
  annotations: READS,
})

export const auditExport = tool({
  name: 'audit.export',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The audit log as JSON lines, oldest first, a piece at a time: go on from `next_seq` until it is null.',
  input: z.strictObject({ after_seq: z.int().min(0).default(0), max_bytes: z.int().min(1024).max(1_048_576).default(262_144) }),
  output: z.object({ jsonl: z.string(), next_seq: z.int().nullable() }),
  annotations: READS,
})

/**
 * What is not as it was written. `changed`: a line, or what stands before it; `missing`, `cut_off`: lines are gone, at the end of the log or before;
 * `added`: a line that no gateway wrote; `head`: what is kept of the chain itself.
 */
export const ChainFault = z.object({
  /** Where in the log, as agent.read_log counts. */
  offset: z.int(),
  kind: z.enum(['changed', 'missing', 'cut_off', 'added', 'head']),
  message: z.string(),
})
export type ChainFault = z.infer<typeof ChainFault>

export const auditVerify = tool({
  name: 'audit.verify',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Walks along the chained logs of calls, of one agent or of all that are yours (an admin’s: of everybody), and names every line that is not as a gateway wrote it. A piece at a time: go on with `next_cursor` until it is null. What it proves is about the lines that are kept; lines from before there were chains are counted apart.',
  input: z.strictObject({ agent_id: AgentId.optional(), cursor: z.string().max(128).optional() }),
  output: z.object({
    /** Agents whose log was walked to its end in this piece. */
    agents: z.int(),
    /** Lines that are proved to be those that were written, in this order. */
    lines: z.int(),
    /** Lines of which nothing is proved: they are not chained. */
    not_chained: z.int(),
    /** When the oldest of the proved ones was written. */
    since: z.iso.datetime().nullable(),
    faults: z.array(ChainFault.extend({ agent_id: AgentId, agent: z.string() })),
    next_cursor: z.string().nullable(),
  }),
  annotations: READS,
})
