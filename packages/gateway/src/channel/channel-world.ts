import type { Sealer } from '../secret/seal.ts'
import { type ToolContext, type ToolWorld, serving } from '../tool/served-tool.ts'
import type { ModelDirectory } from './directory.ts'
import type { ScriptFiles } from './script-files.ts'

/** What the tools of channels, models and prices work with. */
export interface ChannelWorld extends ToolWorld {
  readonly directory: ModelDirectory
  readonly sealer: Sealer
  readonly scripts: ScriptFiles
}

export type ChannelContext = ToolContext<ChannelWorld>
export const serveTool = serving<ChannelWorld>()
