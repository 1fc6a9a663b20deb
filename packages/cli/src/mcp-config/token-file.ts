import * as z from 'zod'
import { readConfig, writeSecret } from '@parley/codex/config'
import type { TokenShelf } from '@parley/agent'
import { CommandError } from '@parley/command-line'
import { locked } from './servers-file.ts'

const Tokens = z.object({
  /** A token goes to the address it was given for, and nowhere else. */
  url: z.string(),
  access_token: z.string(),
  refresh_token: z.string().nullable(),
  expires_at: z.number().nullable(),
  scope: z.string().nullable(),
  client_id: z.string(),
  client_secret: z.string().nullable(),
  issuer: z.string(),
  token_endpoint: z.string().nullable().default(null),
  resource: z.string(),
})
const TokenFile = z.object({ servers: z.record(z.string(), Tokens) })
type TokenFile = z.infer<typeof TokenFile>

/** The same, as the commands use it. */
export interface TokenFileShelf extends TokenShelf {
  has(name: string, url: string): Promise<boolean>
  /** False: there was none. */
  drop(name: string): Promise<boolean>
}

/** Tokens of signed-in servers, in a file for the user alone. */
export function tokenShelf(path: string): TokenFileShelf {
  const read = async (): Promise<TokenFile> => {
    const text = await readConfig(path)
    if (text === '') return { servers: {} }
    const parsed = TokenFile.safeParse(jsonOf(text))
    if (parsed.success) return parsed.data
    throw new CommandError('tokens_unreadable', `${path} is damaged`, { hint: 'remove it and sign in again' })
  }
  const write = (file: TokenFile): Promise<void> => writeSecret(path, `${JSON.stringify(file, null, 2)}\n`)
  const change = async <T>(act: (servers: TokenFile['servers']) => Promise<T>): Promise<T> => {
    const lock = await locked(`${path}.lock`)
    try {
      return await act((await read()).servers)
    } finally {
      lock.release()
    }
  }
  return {
    has: async (name, url) => (await read()).servers[name]?.url === url,
    find: async (url) => {
      const [found] = Object.entries((await read()).servers).filter(([, held]) => held.url === url)
      return found === undefined ? undefined : { name: found[0], tokens: found[1] }
    },
    put: (name, url, tokens) => change((servers) => write({ servers: { ...servers, [name]: { url, ...tokens } } })),
    drop: async (name) => {
      // Where nobody ever signed in no file is made to say so.
      if (!Object.hasOwn((await read()).servers, name)) return false
      return change(async ({ [name]: gone, ...rest }) => {
        if (gone !== undefined) await write({ servers: rest })
        return gone !== undefined
      })
    },
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
