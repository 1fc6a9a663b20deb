import * as z from 'zod'

const Text = z.string().max(2_048)
const Secret = z.string().min(1).max(16_384)

/** What signing in at the server of a mount gave: its tokens, for whom they are, and where they are renewed. Shown to nobody. */
export const MountSignIn = z.strictObject({
  access_token: Secret,
  refresh_token: Secret.nullable(),
  /** Milliseconds since 1970; null where the server did not say. */
  expires_at: z.number().min(0).max(8.64e15).nullable(),
  scope: Text.nullable(),
  client_id: Text,
  client_secret: Secret.nullable(),
  issuer: Text,
  token_endpoint: Text.nullable(),
  /** The server that they are for, and no other gets them. */
  resource: z.url().max(2_048),
})
export type MountSignIn = z.infer<typeof MountSignIn>
