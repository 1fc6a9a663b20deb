import type { JsonObject } from '@parley/protocol'
import type { EventDialect } from '../event/translator.ts'
import { TOOLS as NEWER } from './0.153/tool-list.ts'
import { TOOLS as OLDER } from './0.44/tool-list.ts'

/** `tools/list`, as each version had it. */
export const TOOL_LISTS: Readonly<Record<EventDialect, JsonObject[]>> = { '0.44': OLDER, '0.153': NEWER }
