import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { readConfig, writeConfig, writeSecret } from './config-file.ts'
import type { PlannedEdit } from './provider-repair.ts'

const JOURNAL = '.parley-undo.json'
const Journal = z.object({
  edits: z.array(z.object({ file: z.string(), before: z.string(), backup: z.string().nullable(), after_sha256: z.string() })),
})

/** Writes what was planned. What was there is kept before anything is touched: whenever this process ends, undoing finds its way back. */
export async function writeRepair(home: string, edits: readonly PlannedEdit[]): Promise<void> {
  const journal = edits.map(({ file, before, after }) => ({
    file,
    before,
    backup: before === '' ? null : `${file}.parley-backup`,
    after_sha256: hashOf(after),
  }))
  for (const { backup, before } of journal) if (backup !== null) await writeSecret(join(home, backup), before)
  await writeSecret(join(home, JOURNAL), `${JSON.stringify({ edits: journal })}\n`)
  for (const { file, after } of edits) await writeConfig(join(home, file), after)
}

/** What came of taking a repair back. */
export type Undone =
  | { readonly kind: 'undone'; readonly files: readonly string[] }
  /** Nothing was written that could be taken back. */
  | { readonly kind: 'nothing' }
  /** Somebody changed this file since, so all is left as it is; what was there before is in `backup`. */
  | { readonly kind: 'changed'; readonly path: string; readonly backup: string | null }

/** Takes back what was written last. */
export async function undoRepair(home: string): Promise<Undone> {
  const text = await readConfig(join(home, JOURNAL))
  const journal = text === '' ? undefined : Journal.safeParse(JSON.parse(text)).data
  if (journal === undefined) return { kind: 'nothing' }
  for (const { file, before, after_sha256: hash, backup } of journal.edits) {
    const path = join(home, file)
    const now = await readConfig(path)
    if (now !== before && hashOf(now) !== hash)
      return { kind: 'changed', path, backup: backup === null ? null : join(home, backup) }
  }
  for (const { file, before } of journal.edits) {
    if (before === '') await rm(join(home, file), { force: true })
    else await writeConfig(join(home, file), before)
  }
  await rm(join(home, JOURNAL), { force: true })
  for (const { backup } of journal.edits) if (backup !== null) await rm(join(home, backup), { force: true })
  return { kind: 'undone', files: journal.edits.map(({ file }) => join(home, file)) }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
