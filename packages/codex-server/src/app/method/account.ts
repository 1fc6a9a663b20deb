import { isJsonObject } from '@parley/protocol'
import * as z from 'zod'
import { authMethod } from '../logins.ts'
import { Uuid } from '../shape/conversation-params.ts'
import { type Method, bareMethod, method } from './method.ts'

const NO_TOKEN = { includeToken: false, refreshToken: false }

const LoginApiKeyParams = z.object({ apiKey: z.string().min(1, { error: 'must not be empty' }) })

export const loginApiKey = method(LoginApiKeyParams, async ({ apiKey }, { app, answered }) => {
  const { account } = await app.backend()
  await account.loginApiKey(apiKey)
  void answered.then(() => app.tell('authStatusChange', { authMethod: 'apikey' }))
  return {}
})

const begin = bareMethod(async ({ app, answered }) => {
  const { account } = await app.backend()
  return { ...(await app.logins.begin(account, answered)) }
})

/** The documents declare any object here. Nothing in it means anything. */
export const loginChatGpt: Method = {
  ...begin,
  run: (params, asked) => begin.run(isJsonObject(params) ? undefined : params, asked),
}

const CancelParams = z.object({ loginId: Uuid })

export const cancelLoginChatGpt = method(CancelParams, async ({ loginId }, { app, answered }) => {
  const { account } = await app.backend()
  await app.logins.cancel(account, loginId, answered)
  return {}
})

export const logoutChatGpt = bareMethod(async ({ app, answered }) => {
  const { account } = await app.backend()
  await account.logout()
  const status = authMethod(await account.status(NO_TOKEN))
  void answered.then(() => app.tell('authStatusChange', status))
  return {}
})

const AuthStatusParams = z.object({ includeToken: z.boolean().nullish(), refreshToken: z.boolean().nullish() })

export const getAuthStatus = method(AuthStatusParams, async (params, { app }) => {
  const includeToken = params.includeToken ?? false
  const { account } = await app.backend()
  const status = await account.status({ includeToken, refreshToken: params.refreshToken ?? false })
  const { method: signedIn, token, requiresOpenaiAuth } = status
  // Who is signed in with OpenAI does not matter to another provider.
  if (!requiresOpenaiAuth) return { requiresOpenaiAuth }
  return { authMethod: signedIn ?? undefined, authToken: includeToken ? (token ?? undefined) : undefined, requiresOpenaiAuth }
})

export const userInfo = bareMethod(async ({ app }) => {
  const { account } = await app.backend()
  return { allegedUserEmail: await account.email() }
})
