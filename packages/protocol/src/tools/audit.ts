import * as z from 'zod'
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
  doc: 'The audit log as JSON lines, oldest first, a piece at a time: go on from `next_seq` until it is null.',
  input: z.strictObject({ after_seq: z.int().min(0).default(0), max_bytes: z.int().min(1024).max(1_048_576).default(262_144) }),
  output: z.object({ jsonl: z.string(), next_seq: z.int().nullable() }),
  annotations: READS,
})
