import { type JsonValue, isJsonObject } from '@parley/protocol'
import { RegistryBroken, checkParams, invalidParams } from '@parley/contracts/params'
import { knownVersion } from '@parley/contracts/version'
import type { App } from './app.ts'

/** Newer clients say more when they begin, and older servers do not mind. */
const EXEMPT = new Set(['initialize'])

/**
 * Refuses a parameter that other versions have and that of the dialect has not; Codex would leave it out in silence. What
 * only the documents say is noted. Throws `RemoteFailure`.
 */
export function checkGates(method: string, params: JsonValue | undefined, { dialect, notes }: App): void {
  if (!isJsonObject(params) || EXEMPT.has(method)) return
  try {
    const { problems } = checkParams(method, params, knownVersion(dialect.version), 'wire')
    for (const { severity, param, message } of problems)
      if (severity === 'warning') notes.once(`gate ${method} ${param}`, `${method}: ${message}`)
    const failure = invalidParams(problems)
    if (failure !== undefined) throw failure
  } catch (error) {
    // What is served does not hang on the contracts being there.
    if (!(error instanceof RegistryBroken)) throw error
    notes.once('registry', error.message)
  }
}
