import type { StartMcpServerOptions } from '@parley/executor'
import { DEFAULT_LIMITS } from '@parley/rpc'

/** For servers on stdio that are started here: what they complain about is shown, what is for debugging is not. */
export function serverLog(err: (text: string) => void): StartMcpServerOptions {
  return {
    log: (level, message) => {
      if (level !== 'debug') err(`${message}\n`)
    },
    // As much as a message has on every other wire.
    stdoutLineBytes: DEFAULT_LIMITS.messageBytes,
  }
}
