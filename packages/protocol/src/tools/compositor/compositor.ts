import * as z from 'zod'
import { AGENT_LIMITS } from '../../agent/limits.ts'
import { READS, SETS, tool } from '../../tool.ts'
import { chatPostOwn, chatReadSinceOwn } from './chat.ts'
import { loopYield } from './loop.ts'
import { loopCall, loopCalls, loopCancel, loopResult } from './loop-calls.ts'
import { policyCheck, policyGetOwn, policyProposeOwn, policyWithdraw } from './policy.ts'

/** Bounds of the compositor’s own tools. */
export const COMPOSITOR_TOOL_LIMITS = {
  uriChars: 8_192,
  /** Bytes of one window of a resource. The least holds any character, and a group of base64. */
  windowBytes: { default: 25_000, min: 4, max: 1024 * 1024 },
  searchResults: { default: 10, max: 50 },
  queryChars: 1_000,
} as const

const Uri = z.string().min(1).max(COMPOSITOR_TOOL_LIMITS.uriChars)
/** As it is kept with what wakes the agent. */
const SubscribedUri = z.string().min(1).max(AGENT_LIMITS.uriChars)
const MountName = z.string().max(64).describe('the name of a mount')
const { windowBytes, searchResults, queryChars } = COMPOSITOR_TOOL_LIMITS

/** A resource as its server describes it, under the URI that it is read with here. */
const FoundResource = z.looseObject({ mount: z.string().nullable(), uri: z.string() })

const resourcesList = tool({
  name: 'resources_list',
  roles: ['agent'],
  doc: 'Lists the resources of all mounts, or of one. Hand `next_cursor` back as `cursor` for more.',
  input: z.strictObject({
    mount: MountName.optional(),
    uri_prefix: z.string().max(COMPOSITOR_TOOL_LIMITS.uriChars).optional(),
    cursor: z
      .string()
      .max(COMPOSITOR_TOOL_LIMITS.uriChars * 2)
      .optional(),
  }),
  output: z.object({ resources: z.array(FoundResource), next_cursor: z.string().nullable() }),
  annotations: READS,
})

const resourcesTemplates = tool({
  name: 'resources_templates',
  roles: ['agent'],
  doc: 'Lists the templates of resources (RFC 6570) of all mounts, or of one. Fill in the variables to get a URI to read.',
  input: z.strictObject({ mount: MountName.optional() }),
  output: z.object({ templates: z.array(z.looseObject({ mount: z.string().nullable(), uriTemplate: z.string() })) }),
  annotations: READS,
})

const resourcesRead = tool({
  name: 'resources_read',
  roles: ['agent'],
  doc: 'Reads a window of a resource. Go on with `next_offset` as `offset` and the same `version` until `eof`; then `next_part` as `part`. `version_changed` says that it changed in between: begin anew.',
  input: z.strictObject({
    uri: Uri,
    part: z.int().min(0).max(100_000).optional().describe('which of several contents; the first by default'),
    offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('in bytes; 0 by default'),
    max_bytes: z.int().min(windowBytes.min).max(windowBytes.max).optional().describe(`${windowBytes.default} by default`),
    version: z.string().max(128).optional().describe('of an earlier window'),
  }),
  output: z.object({
    uri: z.string(),
    mime_type: z.string().nullable(),
    /** One of the two. */
    text: z.string().optional(),
    blob: z.string().optional(),
    /** Where the window begins: at a whole character, or a whole group of base64. */
    offset: z.int(),
    next_offset: z.int().nullable(),
    eof: z.boolean(),
    /** The bytes of this part. */
    total: z.int(),
    part: z.int(),
    parts: z.int(),
    next_part: z.int().nullable(),
    version: z.string(),
  }),
  annotations: READS,
})

const Subscription = z.object({
  mount: z.string().nullable(),
  uri: z.string(),
  state: z.enum(['active', 'inactive', 'failed']),
  last_error: z.string().nullable(),
  version: z.int().nullable(),
})

const resourcesSubscribe = tool({
  name: 'resources_subscribe',
  roles: ['agent'],
  doc: 'Has the agent told when a resource changes, until it is ended. `compositor://subscriptions` lists what it is told of.',
  input: z.strictObject({ uri: SubscribedUri }),
  output: Subscription,
  annotations: SETS,
})

const resourcesUnsubscribe = tool({
  name: 'resources_unsubscribe',
  roles: ['agent'],
  doc: 'Ends a subscription of the agent.',
  input: z.strictObject({ uri: SubscribedUri }),
  output: z.object({ uri: z.string(), removed: z.boolean() }),
  annotations: SETS,
})

const toolsSearch = tool({
  name: 'tools_search',
  roles: ['agent'],
  doc: 'Finds tools of all mounts by words of their names and descriptions. What is found can be called, listed or not.',
  input: z.strictObject({
    query: z.string().min(1).max(queryChars),
    limit: z.int().min(1).max(searchResults.max).optional().describe(`${searchResults.default} by default`),
  }),
  output: z.object({
    tools: z.array(z.looseObject({ name: z.string(), mount: z.string() })),
    /** How many there are besides. */
    more: z.int(),
  }),
  annotations: READS,
})

/** The tools that a compositor has besides those of its mounts: `tools_search` where it is wanted, those about policies where one decides, those of the chat where there is one, those of the loop where turns are taken here. */
export const COMPOSITOR_TOOLS = {
  chat_post: chatPostOwn,
  chat_read_since: chatReadSinceOwn,
  loop_call: loopCall,
  loop_calls: loopCalls,
  loop_cancel: loopCancel,
  loop_result: loopResult,
  loop_yield: loopYield,
  policy_check: policyCheck,
  policy_get: policyGetOwn,
  policy_propose: policyProposeOwn,
  policy_withdraw: policyWithdraw,
  resources_list: resourcesList,
  resources_read: resourcesRead,
  resources_subscribe: resourcesSubscribe,
  resources_templates: resourcesTemplates,
  resources_unsubscribe: resourcesUnsubscribe,
  tools_search: toolsSearch,
} as const
