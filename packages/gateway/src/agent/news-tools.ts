import { AGENT_LIMITS, TOOLS, ToolError } from '@parley/protocol'
import { Conflict } from '@parley/store'
import { restView } from './agent-view.ts'
import { serveTool } from './agent-world.ts'
import { asHost, underClaim } from './held-agent.ts'

const QUIET = { audit: 'failures' } as const
const PAGE = { maxItems: AGENT_LIMITS.noticeItems, maxChars: AGENT_LIMITS.noticeChars }

export const hostNews = serveTool(
  TOOLS['host.news'],
  (claim, context) => asHost(claim, context, (fence) => context.world.store.news.pending(fence, PAGE)),
  QUIET,
)

export const hostTellNews = serveTool(
  TOOLS['host.tell_news'],
  ({ uri, digest, certain, ...claim }, context) =>
    underClaim(claim, context, async (fence) => ({
      uri,
      told: await context.world.store.news.changed(fence, uri, { digest, isCertain: certain }),
    })),
  QUIET,
)

export const hostYield = serveTool(
  TOOLS['host.yield'],
  ({ agent_id, claim_id, prompt_id: id, ...wants }, context) =>
    underClaim({ agent_id, claim_id }, context, async (fence) => {
      try {
        return { prompt_id: id, rest: restView(await context.world.store.news.yield(fence, id, wants)) }
      } catch (error) {
        throw error instanceof Conflict ? new ToolError('conflict', error.message, { cause: error }) : error
      }
    }),
  { ...QUIET, anyText: ['say'] },
)
