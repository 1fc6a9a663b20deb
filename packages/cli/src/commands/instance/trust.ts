import { resolve } from 'node:path'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { makeFolder, show, whyForeign } from '@parley/command-line/commands'
import { locked } from '../../mcp-config/servers-file.ts'
import { personFolders } from '../../data/person-folders.ts'
import { lookAt, marksOf } from '../../trust/folder-trust.ts'
import { type TrustedFolder, readTrusted, trustFileOf, writeTrusted } from '../../trust/trust-file.ts'
import { columns } from '@parley/screen'

/** Lets the settings of a folder count, takes that back, or shows which do. */
export async function trust(invocation: Invocation): Promise<number> {
  const { io, values, positionals } = invocation
  const [given] = positionals
  const removed = values.text('remove')
  const asked = [given !== undefined, removed !== undefined, values.has('list')].filter(Boolean)
  if (asked.length !== 1) throw usageError('name one folder, or --remove PATH, or --list', 'parley trust .')
  if (values.has('list')) return list(invocation)
  const file = trustFileOf(io.env)
  const shown = given ?? removed ?? ''
  const fresh = given === undefined ? undefined : trustable(resolve(io.cwd, given), io.now())
  const path = fresh?.path ?? pathOf(resolve(io.cwd, shown))
  makeFolder(personFolders(io.env).data)
  const lock = await locked(`${file}.lock`)
  let was: boolean
  try {
    const before = readTrusted(file)
    const others = before.filter((folder) => folder.path !== path)
    was = others.length < before.length
    await writeTrusted(file, fresh === undefined ? others : [...others, fresh])
  } finally {
    lock.release()
  }
  if (fresh === undefined && !was) throw new CommandError('not_found', `${path} is not trusted`, { hint: 'parley trust --list' })
  const said = fresh === undefined ? `${path} is not trusted any more.` : `The settings in ${path} count from now on.`
  return show(invocation, { path, trusted: fresh !== undefined }, said)
}

function list({ io, values }: Invocation): number {
  const folders = readTrusted(trustFileOf(io.env)).map((known) => ({ known, state: stateOf(known) }))
  if (values.has('json')) {
    const rows = folders.map(({ known: { path, trusted_at }, state }) => ({
      path,
      trusted_at,
      counts: state === 'counts',
      state,
    }))
    io.out(`${JSON.stringify({ folders: rows })}\n`)
    return 0
  }
  if (folders.length === 0) io.err('No folder is trusted.\n')
  else
    io.out(
      `${columns([['folder', 'state', 'since'], ...folders.map(({ known, state }) => [known.path, state, known.trusted_at])], io.screen(), {})}\n`,
    )
  return 0
}

/** Whether a folder that was trusted still counts, in a few words. */
function stateOf(known: TrustedFolder): string {
  const seen = lookAt(known.path)
  if (seen === undefined || seen.path !== known.path) return 'gone'
  const { inode, born, owner } = marksOf(seen.stats)
  if (inode !== known.inode || born !== known.born || owner !== known.owner) return 'replaced'
  return whyForeign(seen.stats) ?? 'counts'
}

function trustable(folder: string, now: number): TrustedFolder {
  const seen = lookAt(folder)
  if (seen === undefined) throw usageError(`${folder} is no folder`, 'name one that is there')
  const foreign = whyForeign(seen.stats)
  if (foreign !== undefined)
    throw new CommandError(
      'folder_unsafe',
      `${seen.path} ${foreign.replace(/: chmod.*/, '')}: whoever it is could write its settings`,
      {
        hint: foreign.includes('chmod') ? `chmod go-w ${seen.path}` : 'only a folder of your own can be trusted',
      },
    )
  return { path: seen.path, ...marksOf(seen.stats), trusted_at: new Date(now).toISOString() }
}

/** A folder that is gone is named as it was listed. */
const pathOf = (folder: string): string => lookAt(folder)?.path ?? folder
