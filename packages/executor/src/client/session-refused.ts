import { isJsonObject } from '@parley/protocol'
import { RemoteFailure } from '@parley/rpc/frame'
import { DRAINING } from '../api/error-code.ts'
import { ProcessError } from '../local/processes.ts'

/** The executor answered and takes no session: it is being drained (`executor_draining`; try another, or later), or says why else. */
export class SessionRefused extends Error {
  readonly code: 'executor_draining' | 'session_refused'
  constructor(refusal: RemoteFailure) {
    super(refusal.message, { cause: refusal })
    this.name = 'SessionRefused'
    const { data } = refusal
    this.code = isJsonObject(data) && data['reason'] === DRAINING.reason ? 'executor_draining' : 'session_refused'
  }
}

/** A start that the executor refused, as a place of this machine would say it. */
export function notStarted(error: unknown): unknown {
  if (!(error instanceof RemoteFailure)) return error
  return new ProcessError('spawn_failed', `the executor says: ${error.message}`, { cause: error })
}
