import * as z from 'zod'
import { bareMethod, method } from './method.ts'

export const getUserSavedConfig = bareMethod(async ({ app }) => {
  const { settings } = await app.backend()
  return { config: await settings.saved() }
})

const SetDefaultModelParams = z.object({
  model: z.string().min(1, { error: 'must not be empty' }).nullish(),
  reasoningEffort: z.enum(['minimal', 'low', 'medium', 'high']).nullish(),
})

/** What is left out is taken out of the file. */
export const setDefaultModel = method(SetDefaultModelParams, async ({ model, reasoningEffort }, { app }) => {
  const { settings } = await app.backend()
  await settings.setDefaultModel(model ?? null, reasoningEffort ?? null)
  return {}
})
