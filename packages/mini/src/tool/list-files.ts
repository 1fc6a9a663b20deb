import { readlinkSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import type { BoundTool, RunContext, ToolResult } from './toolbox.ts'
import { TOOL_BOUNDS } from './bounds.ts'
import { headOf } from './cut.ts'
import type { Folder } from './folder/folder.ts'
import { refusedBySystem, systemCode } from './folder/path-refused.ts'
import { SKIPPED, type TreeCount, type TreeEntry, tree } from './folder/tree.ts'
import { parseGlob } from './glob.ts'
import { ownTool } from './own-tool.ts'
import { failed, said } from './result.ts'

const Input = z.strictObject({
  path: z.string().nullable().describe('A folder; null for the working folder.'),
  depth: z
    .int()
    .min(1)
    .nullable()
    .describe(`How many levels; null for ${TOOL_BOUNDS.listDepthDefault}, or for all of them with a glob.`),
  glob: z.string().nullable().describe('Only paths that fit, such as "*.ts" or "src/**/*.{c,h}"; null for all.'),
})
type Input = z.infer<typeof Input>

/** After so many entries the event loop gets a turn, so that other conversations go on. */
const YIELD_EVERY = 500
const FOOTER_BYTES = 400

export interface ListFilesParts {
  readonly folder: Folder
  readonly resultBytes: number
}

export function listFilesTool({ folder, resultBytes }: ListFilesParts): BoundTool {
  return ownTool({
    name: 'list_files',
    description: `Lists files and folders, sorted, one path per line. A folder ends with "/". ${[...SKIPPED].join(' and ')} are not opened unless path names them.`,
    input: Input,
    run: async (input, context) => {
      try {
        return await list(folder, input, context, resultBytes)
      } catch (error) {
        if (context.signal.aborted) throw error
        return failed(refusedBySystem(input.path ?? '.', error).message)
      }
    },
  })
}

async function list(folder: Folder, input: Input, { reach, signal }: RunContext, resultBytes: number): Promise<ToolResult> {
  const fits = input.glob === null ? () => true : parseGlob(input.glob)
  using start = folder.openFolder(input.path ?? '.', reach)
  const depth = Math.min(
    input.depth ?? (input.glob === null ? TOOL_BOUNDS.listDepthDefault : TOOL_BOUNDS.listDepth),
    TOOL_BOUNDS.listDepth,
  )
  const count: TreeCount = { visited: 0, overfull: 0 }
  const lines: string[] = []
  let bytes = FOOTER_BYTES
  let beyond = 0
  for (const entry of tree(start.dir, { holding: folder.holding, depth, skipped: SKIPPED }, count)) {
    if (count.visited % YIELD_EVERY === 0) await setImmediate()
    signal.throwIfAborted()
    if (!fits(entry.path)) continue
    const line = lineOf(entry)
    bytes += Buffer.byteLength(line) + 1
    if (lines.length < TOOL_BOUNDS.listEntries && bytes <= resultBytes) lines.push(line)
    else beyond++
  }
  const notes = [
    ...(beyond > 0 ? [`${beyond} more are left out: ask for a part with path, depth or glob`] : []),
    ...(count.visited > TOOL_BOUNDS.visitedEntries ? [`stopped after ${TOOL_BOUNDS.visitedEntries} entries`] : []),
    ...(count.overfull > 0
      ? [`${count.overfull} folders have more than ${TOOL_BOUNDS.folderEntries} entries: only so many were read`]
      : []),
  ]
  const what = `${start.shown === '.' ? 'the working folder' : start.shown}${input.glob === null ? '' : `, ${headOf(input.glob, 100)}`}`
  const header = lines.length === 0 ? `[${what}: nothing]` : `[${what}: ${lines.length} shown]`
  return said([...lines, header, ...notes.map((note) => `[${note}]`)].join('\n'))
}

function lineOf({ path, name, kind, dir, closed }: TreeEntry): string {
  if (kind === 'folder') return closed === null || closed === 'too deep' ? `${path}/` : `${path}/ (${CLOSED[closed]})`
  if (kind === 'link') return `${path} -> ${targetOf(dir.at(name))}`
  return kind === 'other' ? `${path} (not a regular file)` : path
}

const CLOSED = { skipped: 'not opened', unreadable: 'cannot be opened', 'out of reach': 'out of reach' } as const

function targetOf(path: string): string {
  try {
    return headOf(readlinkSync(path), 200)
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return '?'
  }
}
