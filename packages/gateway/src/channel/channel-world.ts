import { serving, type ToolContext, type ToolWorld } from '@parley/access'
import type { Models } from '@parley/models'

/** What the tools of channels, models and prices work with. */
export interface ChannelWorld extends ToolWorld, Pick<Models, 'directory' | 'sealer' | 'scripts'> {}

export type ChannelContext = ToolContext<ChannelWorld>
export const serveTool = serving<ChannelWorld>()
