import { closeSync, openSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AuditEntry } from '@parley/protocol'
import { columns, secondText } from '@parley/screen'
import { atPath, type Invocation } from '@parley/command-line'
import { momentOf, show, wholeNumber } from '@parley/command-line/commands'
import { searchChanges } from './audit-changes.ts'
import { withCaller } from '../../caller/with-caller.ts'

const LIMIT = { min: 1, max: 1_000 }
const LIMIT_USUAL = 50
const SEQ = { min: 0, max: Number.MAX_SAFE_INTEGER }
const PIECE_BYTES = 1_048_576
const HEADINGS = ['when', 'who', 'did', 'to', 'outcome', 'code', 'from']
const OUTCOMES = ['ok', 'denied', 'failed'] as const

/** Who did what, newest first. */
export const auditSearch = (invocation: Invocation): Promise<number> => {
  const { io, values } = invocation
  const text = (flag: string): Record<string, string> => {
    const value = values.text(flag)
    return value === undefined ? {} : { [flag]: value }
  }
  const outcome = OUTCOMES.find((one) => one === values.text('outcome'))
  const input = {
    ...text('actor'),
    ...text('action'),
    ...(outcome === undefined ? {} : { outcome }),
    ...momentOf(invocation, 'since'),
    ...momentOf(invocation, 'until'),
    limit: wholeNumber(values, 'limit', LIMIT) ?? LIMIT_USUAL,
  }
  return withCaller(invocation, 'admin', async (caller) => {
    const result = values.has('changes') ? await searchChanges(caller, input) : await caller.call('audit.search', input)
    if (!values.has('json')) {
      if (result.items.length === 0) io.err('nothing of the kind is in the audit log\n')
      if (result.next_before_seq !== null) io.err(`only the newest ${result.items.length} are shown; --limit shows more\n`)
    }
    const rows = result.items.map((entry) => rowOf(entry, invocation))
    return show(invocation, result, columns([HEADINGS, ...rows], io.screen(), { mayGo: ['from', 'code'] }))
  })
}

const rowOf = ({ at, actor, action, target, outcome, code, remote }: AuditEntry, { io }: Invocation): string[] => [
  secondText(at, io),
  actor,
  action,
  target ?? '',
  outcome,
  code ?? '',
  remote ?? '',
]

/** All of it in order, as JSON lines, a piece at a time. */
export const auditExport = (invocation: Invocation): Promise<number> => {
  const { io, values } = invocation
  const after = wholeNumber(values, 'after', SEQ) ?? 0
  const out = values.text('out')
  return withCaller(invocation, 'admin', async (caller) => {
    // A file that is there is somebody's.
    const file = out === undefined ? undefined : atPath(`--out ${out}`, () => openSync(resolve(io.cwd, out), 'wx', 0o600))
    let entries = 0
    let last = after
    try {
      for (let next: number | null = after; next !== null;) {
        const piece: { readonly jsonl: string; readonly next_seq: number | null } = await caller.call('audit.export', {
          after_seq: next,
          max_bytes: PIECE_BYTES,
        })
        const lines = piece.jsonl.split('\n').filter((line) => line !== '')
        entries += lines.length
        last = seqOf(lines.at(-1)) ?? last
        if (file === undefined) io.out(piece.jsonl)
        else atPath(`--out ${out}`, () => writeFileSync(file, piece.jsonl))
        next = piece.next_seq
      }
    } finally {
      if (file !== undefined) closeSync(file)
    }
    const path = out === undefined ? null : resolve(io.cwd, out)
    if (path !== null) return show(invocation, { file: path, entries, last_seq: last }, `${path}: ${entries} entries.`)
    return 0
  })
}

function seqOf(line: string | undefined): number | undefined {
  const entry: unknown = line === undefined ? undefined : JSON.parse(line)
  const seq: unknown = typeof entry === 'object' && entry !== null && 'seq' in entry ? entry.seq : undefined
  return typeof seq === 'number' ? seq : undefined
}
