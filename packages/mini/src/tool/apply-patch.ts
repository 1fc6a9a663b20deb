import * as z from 'zod'
import type { BoundTool, ToolResult } from './toolbox.ts'
import { BadArguments } from './toolbox.ts'
import { TOOL_BOUNDS } from './bounds.ts'
import { cutText } from './cut.ts'
import type { Folder } from './folder/folder.ts'
import { PathRefused } from './folder/path-refused.ts'
import { type WriteOutcome, writeFiles } from './folder/write-files.ts'
import { ownTool } from './own-tool.ts'
import { parsePatch } from './patch/parse-patch.ts'
import { PatchRejected } from './patch/patch.ts'
import { type PatchPlan, planPatch } from './patch/plan-patch.ts'
import { failed, said } from './result.ts'

const DESCRIPTION = `Changes files of the working folder. The whole patch is checked first; if any part does not fit, nothing is written and the answer says which part and what the file has instead.

*** Begin Patch
*** Add File: path/new.txt
+every line of a new file begins with +
*** Update File: path/old.py
*** Move to: path/renamed.py
@@ class Name
 a line that stays, to find the place
-a line that goes
+a line that comes
*** Delete File: path/gone.txt
*** End Patch

"Move to" is optional. "@@" begins each change of a file; behind it may stand a line that comes earlier in the file, to tell equal places apart. Give about three lines that stay before and after each change, changes in the order of the file, and "*** End of File" after a change at its end. Lines must be given exactly as the file has them. Paths are relative to the working folder.`

const Input = z.strictObject({
  patch: z.string().describe('The patch, from "*** Begin Patch" to "*** End Patch".'),
})

export interface ApplyPatchParts {
  readonly folder: Folder
  readonly resultBytes: number
  /** For the names of files that are not yet in place. */
  readonly random: (size: number) => Uint8Array
}

export function applyPatchTool({ folder, resultBytes, random }: ApplyPatchParts): BoundTool {
  const newName = (): string => Buffer.from(random(8)).toString('hex')
  return ownTool({
    name: 'apply_patch',
    description: DESCRIPTION,
    input: Input,
    subject: ({ patch }) => {
      const plan = plannedOr(folder, patch)
      if (plan instanceof Error) throw new BadArguments(cutText(plan.message, resultBytes), { cause: plan })
      return { kind: 'patch', changes: plan.changes }
    },
    run: ({ patch }, { reach, signal }) => {
      signal.throwIfAborted()
      if (reach === 'read-only') return Promise.resolve(failed('nothing was changed: this conversation may only read files'))
      const plan = plannedOr(folder, patch)
      if (plan instanceof Error) return Promise.resolve(failed(cutText(`nothing was changed: ${plan.message}`, resultBytes)))
      return Promise.resolve(told(plan, writeFiles(folder, plan.writes, newName), resultBytes))
    },
  })
}

function plannedOr(folder: Folder, patch: string): PatchPlan | PatchRejected | PathRefused {
  try {
    if (Buffer.byteLength(patch) > TOOL_BOUNDS.patchBytes)
      throw new PatchRejected(`a patch has ${TOOL_BOUNDS.patchBytes} bytes at most: change fewer files at a time`)
    return planPatch(folder, parsePatch(patch))
  } catch (error) {
    if (error instanceof PatchRejected || error instanceof PathRefused) return error
    throw error
  }
}

function told({ changes, writes }: PatchPlan, { written, removed, failure }: WriteOutcome, resultBytes: number): ToolResult {
  if (failure === null) {
    const lines = changes.map(
      ({ kind, path, movedTo }) => `${MARKS[kind]} ${path}${movedTo === undefined ? '' : ` -> ${movedTo}`}`,
    )
    return said(
      cutText(lines.length === 0 ? 'the files are already as the patch wants them' : `done:\n${lines.join('\n')}`, resultBytes),
    )
  }
  const done = new Set([...written, ...removed])
  const list = (paths: readonly string[]): string => (paths.length === 0 ? 'none' : paths.join(', '))
  const undone = writes.map(({ path }) => path).filter((path) => !done.has(path))
  const state =
    done.size === 0
      ? 'nothing was changed'
      : `the patch was applied in part. Written: ${list(written)}. Removed: ${list(removed)}. Not changed: ${list(undone)}`
  return failed(cutText(`${failure.message}\n${state}`, resultBytes))
}

const MARKS = { add: 'A', delete: 'D', update: 'M' } as const
