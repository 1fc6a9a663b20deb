import type { ModelClient } from '@parley/mini'

export interface KeyedModelOptions {
  /** The key that counts at the moment. */
  readonly key: () => Promise<string | null>
  readonly modelFor: (key: string | null) => ModelClient
  /** Whether the model cannot be asked without one. */
  readonly needsKey: boolean
}

const NO_KEY =
  'there is no key for the model: set PARLEY_MODEL_BASE_URL to a model that needs none, or PARLEY_MODEL_API_KEY (OPENAI_API_KEY)'

/** Asks the model with the key that counts at the moment: signing in and out takes effect with the next request. */
export function keyedModel({ key, modelFor, needsKey }: KeyedModelOptions): ModelClient {
  let known: { readonly key: string | null; readonly client: ModelClient } | undefined
  return {
    sample: async (request, listener, signal) => {
      const now = await key()
      if (now === null && needsKey) return { kind: 'failed', code: 'model_unauthorized', message: NO_KEY }
      if (known?.key !== now) known = { key: now, client: modelFor(now) }
      return known.client.sample(request, listener, signal)
    },
  }
}
