import type { ChannelKind } from '@parley/protocol'
import { baseUrlFault } from './upstream-url.ts'

/** A channel as somebody wants it, with the names of the tool's fields. */
export interface ChannelDraft {
  readonly kind: ChannelKind
  readonly display_name: string
  readonly base_url: string | null
  readonly models_path: string
  readonly script: string | null
  /** Only one that is given now; empty: none. */
  readonly api_key: string | undefined
}

export interface ChannelFault {
  readonly field: keyof ChannelDraft
  readonly fault: string
}

/** It goes into a header and into a database: no spaces, no line ends, nothing that another encoding would change. */
const PRINTABLE = /^[\x21-\x7e]*$/
const CONTROL = /\p{Cc}/u

/** What is wrong with a channel beyond its schema. Never says what the key is. */
export function channelFault(draft: ChannelDraft): ChannelFault | undefined {
  const { kind, display_name: displayName, base_url: baseUrl, api_key: apiKey = '' } = draft
  if (CONTROL.test(displayName) || !displayName.isWellFormed())
    return { field: 'display_name', fault: 'must not contain control characters' }
  if (!PRINTABLE.test(apiKey)) return { field: 'api_key', fault: 'must be printable ASCII without spaces' }
  if (!PRINTABLE.test(draft.models_path)) return { field: 'models_path', fault: 'must be printable ASCII without spaces' }
  if (kind === 'script') {
    if (baseUrl !== null) return { field: 'base_url', fault: 'does not go with kind script' }
    if (apiKey !== '') return { field: 'api_key', fault: 'does not go with kind script' }
    return draft.script === null ? { field: 'script', fault: 'is needed for kind script' } : undefined
  }
  if (draft.script !== null) return { field: 'script', fault: 'goes with kind script only' }
  if (baseUrl === null) return { field: 'base_url', fault: 'is needed for kind openai' }
  const fault = baseUrlFault(baseUrl)
  return fault === undefined ? undefined : { field: 'base_url', fault }
}
