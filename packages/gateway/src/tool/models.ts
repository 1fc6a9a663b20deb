import { TOOLS } from '@parley/protocol'
import { serveTool } from './served-tool.ts'

/** No upstream can be set up yet, so there is none to list. */
export const modelsList = serveTool(TOOLS['models.list'], () => ({ items: [] }))
