import { type AuditEntry, TOOLS, iso } from '@parley/protocol'
import type { AuditRecord } from '@parley/store'
import { serveTool } from './account-world.ts'

const EXPORT_PAGE = 500

function entryView(record: AuditRecord): AuditEntry {
  return { ...record, at: iso(record.at) }
}

export const auditSearch = serveTool(TOOLS['audit.search'], async (args, { world }) => {
  await world.audit.flush()
  const found = await world.store.audit.search({
    limit: args.limit,
    ...(args.actor === undefined ? {} : { actor: args.actor }),
    ...(args.action === undefined ? {} : { action: args.action }),
    ...(args.outcome === undefined ? {} : { outcome: args.outcome }),
    ...(args.since === undefined ? {} : { since: Date.parse(args.since) }),
    ...(args.until === undefined ? {} : { until: Date.parse(args.until) }),
    ...(args.before_seq === undefined ? {} : { beforeSeq: args.before_seq }),
  })
  const items = found.map(entryView)
  const last = items.at(-1)
  // A full page may be the last one; then the next is empty and says so.
  return { items, next_before_seq: last !== undefined && items.length === args.limit && last.seq > 1 ? last.seq : null }
})

export const auditExport = serveTool(TOOLS['audit.export'], async (args, { world }) => {
  await world.audit.flush()
  let jsonl = ''
  let bytes = 0
  let seq = args.after_seq
  for (;;) {
    const records = await world.store.audit.after(seq, EXPORT_PAGE)
    for (const record of records) {
      const line = `${JSON.stringify(entryView(record))}\n`
      const lineBytes = Buffer.byteLength(line)
      // The first line goes out however long it is, so that every piece makes progress.
      if (jsonl !== '' && bytes + lineBytes > args.max_bytes) return { jsonl, next_seq: seq }
      jsonl += line
      bytes += lineBytes
      seq = record.seq
    }
    if (records.length < EXPORT_PAGE) return { jsonl, next_seq: null }
  }
})
