import { TOOL_BOUNDS } from '../bounds.ts'
import { headOf } from '../cut.ts'
import type { OpenFile } from '../folder/dir.ts'
import { type Folder, openFolderOf } from '../folder/folder.ts'
import { outOfReach } from '../folder/out-of-reach.ts'
import { PathRefused, systemCode } from '../folder/path-refused.ts'
import { readAll } from '../folder/read-text.ts'
import { SKIPPED, type TreeCount, tree } from '../folder/tree.ts'
import { parseGlob } from '../glob.ts'
import type { Found, SearchSums } from './search-news.ts'
import type { SearchOrder } from './search-order.ts'

type Tell = (found: Found[]) => void
type Sums = { -readonly [Key in keyof SearchSums]: SearchSums[Key] } & { results: number; bytes: number }

/** Searches a file or everything below a folder, and tells what it found file by file. Blocks: run it in a thread of its own. */
export function searchFiles(order: SearchOrder, tell: Tell): SearchSums {
  const folder = openFolderOf(order.folder, { outOfReach: outOfReach(order.outOfReach, order.known), real: order.real })
  const sums: Sums = { files: 0, binary: 0, tooLarge: 0, cutBy: null, results: 0, bytes: 0 }
  const search = new RegExp(order.pattern, order.flags)
  const inFile = (file: OpenFile, path: string): void =>
    searchFile(file, path, { search, maxResults: order.maxResults, sums, tell })
  try {
    using file = folder.openFile(order.path, order.reach)
    inFile(file, file.shown)
  } catch (error) {
    if (!(error instanceof PathRefused) || error.code !== 'is_folder') throw error
    searchBelow(folder, order, sums, inFile)
  }
  const { files, binary, tooLarge, cutBy } = sums
  return { files, binary, tooLarge, cutBy }
}

function searchBelow(folder: Folder, order: SearchOrder, sums: Sums, inFile: (file: OpenFile, path: string) => void): void {
  const fits = order.glob === null ? () => true : parseGlob(order.glob)
  const count: TreeCount = { visited: 0, overfull: 0 }
  using start = folder.openFolder(order.path, order.reach)
  const prefix = start.shown === '.' ? '' : `${start.shown}/`
  const options = { holding: folder.holding, depth: TOOL_BOUNDS.listDepth, skipped: SKIPPED }
  for (const { path, name, kind, dir } of tree(start.dir, options, count)) {
    if (kind !== 'file' || !fits(path)) continue
    using file = openOr(() => folder.holding.openFile(dir, name))
    if (file === undefined) continue
    inFile(file, prefix + path)
    if (sums.cutBy !== null) return
  }
  if (count.visited > TOOL_BOUNDS.visitedEntries || count.overfull > 0) sums.cutBy = 'entries'
}

interface Searching {
  readonly search: RegExp
  readonly maxResults: number
  readonly sums: Sums
  readonly tell: Tell
}

function searchFile(file: OpenFile, path: string, { search, maxResults, sums, tell }: Searching): void {
  const bytes = file.stats.size > TOOL_BOUNDS.searchFileBytes ? undefined : readAll(file.fd, TOOL_BOUNDS.searchFileBytes)
  if (bytes === undefined) return void sums.tooLarge++
  if (bytes.includes(0)) return void sums.binary++
  sums.files++
  sums.bytes += bytes.length
  const found: Found[] = []
  for (const [index, line] of bytes.toString('utf8').split('\n').entries()) {
    if (!search.test(line)) continue
    if (++sums.results > maxResults) {
      sums.cutBy = 'results'
      break
    }
    found.push({ path, line: index + 1, text: around(line, search) })
  }
  if (found.length > 0) tell(found)
  if (sums.bytes > TOOL_BOUNDS.searchBytes) sums.cutBy ??= 'bytes'
}

/** The line, or what stands around the match where the line is long. */
function around(line: string, search: RegExp): string {
  const text = line.replace(/\r$/, '')
  if (text.length <= TOOL_BOUNDS.searchLineBytes) return text
  const at = Math.max(0, text.search(search) - Math.floor(TOOL_BOUNDS.searchLineBytes / 3))
  return `${at > 0 ? '…' : ''}${headOf(text.slice(at), TOOL_BOUNDS.searchLineBytes).toWellFormed()}…`
}

/** A file that may not be read, or is out of reach, is passed over. */
function openOr(open: () => OpenFile | undefined): OpenFile | undefined {
  try {
    return open()
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof PathRefused)) throw error
    return undefined
  }
}
