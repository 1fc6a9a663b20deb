import type { RandomBytes, UserId } from '@parley/protocol'
import type { LinkRecord, SignInProof, SignIns } from '@parley/store'
import { hashText, isLinkText, mintLink } from './token-text.ts'

const LINK_MS = 15 * 60_000

/** Sign-in links that work once, for fifteen minutes. */
export interface OneTimeLinks {
  make(userId: UserId): Promise<{ readonly url: string; readonly expiresAt: number }>
  /** Uses the link up; `undefined` when it is unknown, used or too old. */
  take(text: string): Promise<{ readonly userId: UserId; readonly proof: SignInProof } | undefined>
  /** Looks at a link and leaves it as it is; `undefined` when it is none that we know. */
  find(text: string): Promise<LinkRecord | undefined>
}

export function openOneTimeLinks(options: {
  readonly signIns: SignIns
  readonly baseUrl: () => string
  readonly now: () => number
  readonly random: RandomBytes
}): OneTimeLinks {
  const { signIns, baseUrl, now, random } = options
  return {
    async make(userId) {
      const text = mintLink(random)
      const expiresAt = now() + LINK_MS
      await signIns.addLink({ hash: hashText(text), userId, expiresAt })
      // In the fragment, which browsers send to nobody: no proxy and no log sees it.
      return { url: `${baseUrl()}/#link=${text}`, expiresAt }
    },
    async take(text) {
      if (!isLinkText(text)) return undefined
      const link = hashText(text)
      const userId = await signIns.takeLink(link)
      return userId && { userId, proof: { link } }
    },
    find: async (text) => (isLinkText(text) ? signIns.findLink(hashText(text)) : undefined),
  }
}
