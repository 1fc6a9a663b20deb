import { messageOf } from '@parley/protocol/wire'
import * as z from 'zod'
import { BadArguments, type BoundTool, type RunContext, type ToolResult } from '../toolbox.ts'
import { TOOL_BOUNDS } from '../bounds.ts'
import { cutText } from '../cut.ts'
import type { Folder } from '../folder/folder.ts'
import { SKIPPED } from '../folder/tree.ts'
import { parseGlob } from '../glob.ts'
import { ownTool } from '../own-tool.ts'
import { failed, said } from '../result.ts'
import { type SearchOutcome, runSearch } from './run-search.ts'
import type { SearchSums } from './search-news.ts'
import { SearchPlaces } from './search-places.ts'

const Input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe('What to look for in each line: a JavaScript regular expression, or plain text if literal.'),
  literal: z.boolean().nullable().describe('True: pattern is plain text. Null is false.'),
  ignore_case: z.boolean().nullable().describe('Null is false.'),
  path: z.string().nullable().describe('A folder or a file; null for the working folder.'),
  glob: z.string().nullable().describe('Only files that fit, such as "*.py" or "src/**/*.ts"; null for all.'),
  max_results: z
    .int()
    .min(1)
    .nullable()
    .describe(`Null for ${TOOL_BOUNDS.searchResultsDefault}; ${TOOL_BOUNDS.searchResults} at most.`),
})
type Input = z.infer<typeof Input>

export interface SearchParts {
  readonly folder: Folder
  readonly resultBytes: number
  readonly timeoutMs: number
}

export function searchTool(parts: SearchParts): BoundTool {
  const places = new SearchPlaces(TOOL_BOUNDS.searchesAtOnce)
  return ownTool({
    name: 'search',
    description: `Searches text files line by line and answers "path:line: text". ${[...SKIPPED].join(' and ')} are left out unless path names them, binary files always.`,
    input: Input,
    run: (input, context) => places.within(context.signal, () => search(parts, input, context)),
  })
}

async function search(parts: SearchParts, input: Input, { reach, signal }: RunContext): Promise<ToolResult> {
  const { pattern, flags } = expression(input)
  if (input.glob !== null) parseGlob(input.glob)
  const maxResults = Math.min(input.max_results ?? TOOL_BOUNDS.searchResultsDefault, TOOL_BOUNDS.searchResults)
  const { path: folder, real, outOfReach: beyond } = parts.folder
  const order = {
    folder,
    real,
    outOfReach: beyond.paths,
    known: beyond.identities,
    path: input.path ?? '.',
    reach,
    pattern,
    flags,
    glob: input.glob,
    maxResults,
  }
  return told(await runSearch(order, parts.timeoutMs, signal), maxResults, parts)
}

/** Compiling an expression is quick and is done here; only matching can take long, and that is done in the thread. */
function expression({ pattern, literal, ignore_case: ignoresCase }: Input): { pattern: string; flags: string } {
  if (Buffer.byteLength(pattern) > TOOL_BOUNDS.searchPatternBytes)
    throw new BadArguments(`pattern: ${TOOL_BOUNDS.searchPatternBytes} bytes at most`)
  const source = literal === true ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : pattern
  const flags = ignoresCase === true ? 'i' : ''
  try {
    return { pattern: new RegExp(source, `u${flags}`).source, flags: `u${flags}` }
  } catch {
    // Older habits, such as escapes that need none, are good without `u`.
  }
  try {
    return { pattern: new RegExp(source, flags).source, flags }
  } catch (error) {
    throw new BadArguments(`pattern: ${messageOf(error)}; set literal to look for plain text`, { cause: error })
  }
}

function told(outcome: SearchOutcome, maxResults: number, { resultBytes, timeoutMs }: SearchParts): ToolResult {
  if (outcome.kind === 'refused') return failed(outcome.message)
  const lines = outcome.found.map(({ path, line, text }) => `${path}:${line}: ${text}`)
  const files = new Set(outcome.found.map(({ path }) => path)).size
  const sum = lines.length === 0 ? 'nothing found' : `${lines.length} lines in ${files} files`
  if (outcome.kind === 'too-slow') {
    const words = `the search was stopped after ${timeoutMs} ms; until then: ${sum}. Use a simpler pattern, or a smaller path or glob.`
    return failed(cutText([...lines, `[${words}]`].join('\n'), resultBytes))
  }
  return said(cutText([...lines, `[${[sum, ...notes(outcome.sums, maxResults)].join('; ')}]`].join('\n'), resultBytes))
}

function notes({ files, binary, tooLarge, cutBy }: SearchSums, maxResults: number): string[] {
  const skipped = [
    ...(binary > 0 ? [`${binary} binary`] : []),
    ...(tooLarge > 0 ? [`${tooLarge} larger than ${TOOL_BOUNDS.searchFileBytes} bytes`] : []),
  ]
  const cut = {
    results: `stopped at ${maxResults} results: there are more`,
    bytes: `stopped after ${TOOL_BOUNDS.searchBytes} bytes`,
    entries: 'stopped: too many files',
  }
  return [
    `${files} files searched`,
    ...(skipped.length > 0 ? [`skipped ${skipped.join(', ')}`] : []),
    ...(cutBy === null ? [] : [cut[cutBy]]),
  ]
}
