import type { Models } from '@parley/models'
import { type ToolContext, type ToolWorld, serving } from '../tool/served-tool.ts'

/** What the tools of channels, models and prices work with. */
export interface ChannelWorld extends ToolWorld, Pick<Models, 'directory' | 'sealer' | 'scripts'> {}

export type ChannelContext = ToolContext<ChannelWorld>
export const serveTool = serving<ChannelWorld>()
