/** The revisions of MCP that open with `initialize`, oldest first. A session speaks one of them from start to end. */
export const LEGACY_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
/** The revisions without a handshake: every request says all about itself in `_meta`. */
export const MODERN_REVISIONS = ['2026-07-28'] as const

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number]
export type ModernRevision = (typeof MODERN_REVISIONS)[number]
export type Revision = LegacyRevision | ModernRevision
export type Era = 'legacy' | 'modern'

export const LATEST_LEGACY: LegacyRevision = '2025-11-25'
export const LATEST_MODERN: ModernRevision = '2026-07-28'

export function isLegacyRevision(text: unknown): text is LegacyRevision {
  return LEGACY_REVISIONS.some((revision) => revision === text)
}
export function isModernRevision(text: unknown): text is ModernRevision {
  return MODERN_REVISIONS.some((revision) => revision === text)
}
/** Revisions are ISO dates, so a plain comparison orders them; anything from 2026-07-28 on is the modern era. */
export function looksModern(text: string): boolean {
  return text >= LATEST_MODERN
}

/** What differs between legacy revisions, asked by name so that no date is compared elsewhere. */
export const hasBatches = (revision: Revision): boolean => revision === '2025-03-26'
export const hasPrimingEvents = (revision: Revision): boolean => revision === '2025-11-25'

/** The keys of the modern envelope in `params._meta` and of what answers carry. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

/**
 * How a server of ours tells another of ours that a call waits for a person: whoever wants to know says so in `_meta`, and hears the
 * notification with the id of its request.
 */
/** A relay says with `notifications/cancelled` that its client did not cancel, but was cut off. */
export const CUT_OFF = 'parley/cut_off'

export const HELD = { meta: 'parley/held', method: 'notifications/parley/held' } as const
