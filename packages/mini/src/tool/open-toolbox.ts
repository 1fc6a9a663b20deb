import type { ConversationOptions } from '@parley/agent'
import type { ToolLimits, ToolPorts } from './tool-options.ts'
import type { BoundTool, Toolbox } from './toolbox.ts'
import { applyPatchTool } from './apply-patch.ts'
import { TOOL_BOUNDS } from './bounds.ts'
import { openFolderOf } from './folder/folder.ts'
import { outOfReach } from './folder/out-of-reach.ts'
import { listFilesTool } from './list-files.ts'
import { openMounts } from './mount/open-mounts.ts'
import { readFileTool } from './read-file.ts'
import { searchTool } from './search/search.ts'
import { shellTool } from './shell.ts'
import { updatePlanTool } from './update-plan.ts'

export interface OpenToolbox {
  readonly options: ConversationOptions
  readonly ports: ToolPorts
  readonly limits: ToolLimits
  /** Gives up connecting. */
  readonly signal: AbortSignal
}

/** Connects the mounts and lays the engine's own tools beside theirs. Throws `MountFailed`. */
export async function openToolbox({ options, ports, limits, signal }: OpenToolbox): Promise<Toolbox> {
  const mounts = await openMounts({
    mounts: options.mounts,
    connect: ports.connectMount,
    connectMs: limits.mountConnectMs,
    toolMs: limits.toolMs,
    resultBytes: limits.resultBytes,
    signal,
  })
  const tools = [...ownTools(options, ports, limits), ...mounts.tools]
  const byName = new Map(tools.map((tool) => [tool.spec.name, tool]))
  return { tools, warnings: mounts.warnings, find: (name) => byName.get(name), close: () => mounts.close() }
}

function ownTools(
  options: ConversationOptions,
  { commands, random, outOfReach: paths = [] }: ToolPorts,
  limits: ToolLimits,
): readonly BoundTool[] {
  const { approvals } = options
  const { resultBytes, commandMs, toolMs } = limits
  const folder = openFolderOf(options.folder, {
    outOfReach: outOfReach(paths),
    ...(options.unlinked === true ? { real: options.folder } : {}),
  })
  const shell =
    commands === undefined
      ? []
      : [shellTool({ commands, folder, approvals, commandMs, longestMs: Math.max(commandMs, toolMs), resultBytes })]
  return [
    ...shell,
    applyPatchTool({ folder, resultBytes, random }),
    readFileTool({ folder, resultBytes }),
    listFilesTool({ folder, resultBytes }),
    searchTool({ folder, resultBytes, timeoutMs: TOOL_BOUNDS.searchMs }),
    updatePlanTool(),
  ]
}
