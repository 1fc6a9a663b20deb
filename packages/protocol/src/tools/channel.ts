import * as z from 'zod'
import { ModelWire } from '../model/usage.ts'
import { ENDS, READS, SETS, tool } from '../tool.ts'
import { ChannelCheck, ChannelName, ModelName } from './models.ts'

/** `openai`: any server that speaks one of OpenAI's wires. `script`: a file of answers is played, no model is asked. */
export const ChannelKind = z.enum(['openai', 'script'])
export type ChannelKind = z.infer<typeof ChannelKind>

/** A way to models. The key is never shown, only enough of it to tell two apart. */
export const Channel = z.object({
  name: ChannelName,
  display_name: z.string(),
  kind: ChannelKind,
  base_url: z.string().nullable(),
  wire: ModelWire,
  models_path: z.string(),
  /** The script that is played, for `script` alone. */
  script: z.string().nullable(),
  key: z.string().nullable(),
  enabled: z.boolean(),
  /** Who set it up: `settings` (environment or parley.toml) or `admin`. */
  source: z.enum(['settings', 'admin']),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type Channel = z.infer<typeof Channel>

export const channelList = tool({
  name: 'channel.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The channels to models, with masked keys.',
  input: z.strictObject({}),
  output: z.object({ items: z.array(Channel) }),
  annotations: READS,
})

export const channelSet = tool({
  name: 'channel.set',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Adds a channel or changes one. Left out: stays as it is. `api_key` is stored encrypted; an empty one removes it.',
  input: z.strictObject({
    name: ChannelName,
    display_name: z.string().max(128).optional(),
    kind: ChannelKind.optional(),
    base_url: z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
      .max(2_048)
      .optional(),
    api_key: z.string().max(4_096).optional(),
    wire: ModelWire.optional(),
    models_path: z.string().startsWith('/').max(256).optional(),
    script: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be the name of a script: small letters, digits and hyphens')
      .optional(),
    enabled: z.boolean().optional(),
  }),
  output: Channel,
  annotations: SETS,
})

export const channelDelete = tool({
  name: 'channel.delete',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Removes a channel with its models and prices. Jobs that still need it fail; what was booked stays.',
  input: z.strictObject({ name: ChannelName }),
  output: z.object({ name: ChannelName, deleted: z.literal(true), detached_models: z.array(ModelName) }),
  annotations: ENDS,
})

export const channelModels = tool({
  name: 'channel.models',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'What a channel’s upstream lists now, asked anew.',
  input: z.strictObject({ name: ChannelName }),
  output: z.object({ check: ChannelCheck, items: z.array(ModelName) }),
  annotations: { ...READS, openWorldHint: true },
})
