/** What a worker was told is safe. */
export type Acknowledged =
  | { readonly kind: 'append'; readonly log: string; readonly entry: string }
  | { readonly kind: 'offer'; readonly key: string }
  | { readonly kind: 'claim'; readonly key: string; readonly fence: number }
  | { readonly kind: 'complete'; readonly key: string }
  | { readonly kind: 'blob'; readonly sha256: string }
  | { readonly kind: 'audit'; readonly action: string }
  | { readonly kind: 'job'; readonly id: string }
  | { readonly kind: 'end'; readonly id: string }
  | { readonly kind: 'reserve'; readonly call: string }
  | { readonly kind: 'book'; readonly call: string; readonly tokens: number }

/** Only the harness's own worker writes these lines, so their shape is trusted. */
export function parseAcknowledged(line: string): Acknowledged {
  return JSON.parse(line) as Acknowledged
}
