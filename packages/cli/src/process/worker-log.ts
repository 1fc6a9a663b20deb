const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** Lines of a worker for stderr, from a level on. The token never stands in one, whoever wrote the message. */
export function workerLog(
  worker: 'judge' | 'host',
  { logLevel, token }: { readonly logLevel: string; readonly token: string },
  { err, now }: { readonly err: (text: string) => void; readonly now: () => number },
): (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void {
  const least = LEVELS.indexOf(logLevel)
  return (at, message) => {
    if (LEVELS.indexOf(at) < least) return
    err(`${new Date(now()).toISOString()} ${worker} ${at}: ${message.replaceAll(token, '***')}\n`)
  }
}
