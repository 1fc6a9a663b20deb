import * as z from 'zod'
import { initializeMcp } from './mcp.ts'
import { type Method, bareMethod, method } from './method.ts'

const InitializeParams = z.object({
  clientInfo: z.object({ name: z.string().max(1_000), title: z.string().nullish(), version: z.string().max(1_000) }),
})

const initializeApp = method(InitializeParams, ({ clientInfo }, { app }) => {
  app.handshake.begin(clientInfo)
  return { userAgent: app.handshake.userAgent }
})

/** Says hello. Where tools are served too, the word is that of MCP. */
export const initialize: Method = {
  ...initializeApp,
  run: (params, asked) => (asked.app.dialect.hasTools ? initializeMcp(params, asked) : initializeApp.run(params, asked)),
}

export const getUserAgent = bareMethod(({ app }) => ({ userAgent: app.handshake.userAgent }))
