import type { Stats } from 'node:fs'
import { type FileChange, unifiedDiff } from '@parley/agent'
import { TOOL_BOUNDS } from '../bounds.ts'
import type { Fingerprint } from '../folder/fingerprint.ts'
import type { Folder } from '../folder/folder.ts'
import { refuseNewRepositories } from '../folder/git-names.ts'
import { PathRefused } from '../folder/path-refused.ts'
import { readText } from '../folder/read-text.ts'
import type { FileWrite } from '../folder/write-files.ts'
import { applyChunks } from './apply-chunks.ts'
import { PatchRejected, type PatchSection } from './patch.ts'

/** All that a patch would do, computed before anything is written. */
export interface PatchPlan {
  readonly changes: readonly FileChange[]
  readonly writes: readonly FileWrite[]
}

/** One file that the patch touches: as it is, and as it will be. Null: it is not there. */
interface Touched {
  readonly path: string
  readonly before: string | null
  readonly seen: Fingerprint | null
  readonly stats: Stats | null
  after: string | null
  /** Where it came from, if another file was moved here. */
  from: Touched | null
}

/** Works out what becomes of every file. Throws `PatchRejected` or `PathRefused`. */
export function planPatch(folder: Folder, sections: readonly PatchSection[]): PatchPlan {
  const files = new Files(folder)
  for (const section of sections) {
    if (section.kind === 'add') files.touch(section.path, 'follow').after = section.content
    else if (section.kind === 'delete') remove(files.touch(section.path, 'keep'))
    else update(files, section)
  }
  const touched = [...files.all()]
  refuseNewRepositories(
    folder,
    touched.filter(({ before, after }) => before === null && after !== null).map(({ path }) => path),
  )
  return { changes: changesOf(touched), writes: writesOf(touched) }
}

function update(files: Files, { path, movedTo, chunks }: Extract<PatchSection, { kind: 'update' }>): void {
  const file = files.touch(path, movedTo === null ? 'follow' : 'keep')
  const content = applyChunks(path, contentOf(file), chunks)
  if (movedTo === null) {
    file.after = content
    return
  }
  const target = files.touch(movedTo, 'follow')
  if (target !== file) {
    target.from = file.from ?? file
    remove(file)
  }
  target.after = content
}

function remove(file: Touched): void {
  contentOf(file)
  file.after = null
  file.from = null
}

/** What the file holds at this point of the patch; it must be there. */
function contentOf({ path, after }: Touched): string {
  if (after === null) throw new PatchRejected(`${path} does not exist`)
  return after
}

class Files {
  readonly #folder: Folder
  readonly #byName = new Map<string, Touched>()

  constructor(folder: Folder) {
    this.#folder = folder
  }

  all(): Iterable<Touched> {
    return this.#byName.values()
  }

  /** The file at a path as the patch has left it so far. */
  touch(path: string, lastLink: 'follow' | 'keep'): Touched {
    using walked = this.#folder.walkToWrite(path, lastLink)
    const key = walked.names.join('/')
    const known = this.#byName.get(key)
    if (known !== undefined) return known
    if (this.#byName.size >= TOOL_BOUNDS.patchFiles)
      throw new PatchRejected(`a patch changes ${TOOL_BOUNDS.patchFiles} files at most`)
    if (walked.kind === 'link') throw new PathRefused('wrong_kind', `${path} is a symbolic link: name the file that it leads to`)
    if (walked.kind === 'folder') throw new PathRefused('wrong_kind', `${path} is a folder`)
    const read = walked.kind === 'none' ? null : readText(this.#folder, walked, path, TOOL_BOUNDS.patchedFileBytes)
    const before = read?.content ?? null
    const file = { path: key, before, seen: read?.seen ?? null, stats: read?.stats ?? null, after: before, from: null }
    this.#byName.set(key, file)
    return file
  }
}

function writesOf(files: readonly Touched[]): FileWrite[] {
  return files
    .filter(({ before, after }) => before !== after)
    .map(({ path, after, seen, from }) => ({
      path,
      content: after === null ? null : Buffer.from(after, 'utf8'),
      seen,
      like: from?.stats ?? null,
    }))
}

function changesOf(files: readonly Touched[]): FileChange[] {
  const moved = new Set(files.flatMap(({ from, after }) => (from !== null && after !== null ? [from] : [])))
  return files.flatMap((file) => (moved.has(file) && file.after === null ? [] : changeOf(file)))
}

function changeOf({ path, before, after, from }: Touched): FileChange[] {
  if (from !== null && after !== null && from.before !== null) {
    const move: FileChange = { path: from.path, kind: 'update', movedTo: path, diff: unifiedDiff(from.before, after) }
    // What was there before is lost: whoever approves must see it.
    return before === null ? [move] : [{ path, kind: 'delete', diff: unifiedDiff(before, null) }, move]
  }
  if (before === after) return []
  const kind = before === null ? 'add' : after === null ? 'delete' : 'update'
  return [{ path, kind, diff: unifiedDiff(before, after) }]
}
