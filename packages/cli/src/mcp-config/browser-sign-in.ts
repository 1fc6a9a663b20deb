import { discoverOauth, OauthError, type OauthTokens, signIn, type SignInOptions } from '@parley/oauth'
import { CommandError, type Invocation } from '@parley/command-line'
import { openBrowser } from './open-browser.ts'

/** What a person gets to sign in. */
const SIGN_IN_MS = 10 * 60_000

type Wishes = Pick<SignInOptions, 'client' | 'scopes' | 'resource' | 'callbackPort'>

/** Signs a person in at an MCP server, with the browser of this machine or an address on the screen. Throws `CommandError`. */
export async function browserSignIn(
  { io, values }: Pick<Invocation, 'io' | 'values'>,
  { name, url, ...wishes }: { readonly name: string; readonly url: string } & Wishes,
): Promise<OauthTokens> {
  const stop = new AbortController()
  let ignore = (): void => {}
  let closeBrowser = (): Promise<void> => Promise.resolve()
  try {
    const server = await discoverOauth(url)
    // Not before: while the server is asked there is nothing to put away, and a signal ends the command by itself.
    ignore = io.onSignal(() => stop.abort())
    if (server === undefined)
      throw new CommandError('unsupported', `${name} wants no sign-in`, {
        hint: `nothing at ${new URL(url).origin} speaks of OAuth`,
      })
    return await signIn({
      server,
      ...wishes,
      clientName: 'Parley',
      open: (address) => {
        io.err(`Sign in at:\n  ${address}\n`)
        if (!values.has('no-browser')) closeBrowser = openBrowser(io, address)
      },
      timeoutMs: SIGN_IN_MS,
      now: io.now,
      signal: stop.signal,
    })
  } catch (error) {
    if (error instanceof OauthError) throw new CommandError(`sign_in_${error.code}`, error.message, { cause: error })
    throw error
  } finally {
    ignore()
    await closeBrowser()
  }
}

/** The scopes that an option names, as a list with commas. */
export const scopesIn = (text: string | undefined): readonly string[] | undefined =>
  text?.split(',').filter((scope) => scope !== '')
