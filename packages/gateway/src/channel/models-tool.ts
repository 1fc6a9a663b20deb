import { TOOLS, type ToolOutput } from '@parley/protocol'
import { type ChannelWorld, serveTool } from './channel-world.ts'

export const modelsList = serveTool(TOOLS['models.list'], ({ live }, { world }) => modelPage(world, live))

/** The models that jobs may name, and with `live` what became of asking for them. */
export async function modelPage(
  { directory }: Pick<ChannelWorld, 'directory'>,
  live: boolean,
): Promise<ToolOutput<'models.list'>> {
  const { items, channels } = await directory.list(live)
  return { items: [...items], channels: [...channels] }
}
