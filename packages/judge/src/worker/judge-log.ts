const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** Lines for stderr, from a level on. The token never stands in one, whoever wrote the message. */
export function judgeLog(
  level: string,
  token: string,
  { err, now }: { readonly err: (text: string) => void; readonly now: () => number },
): (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void {
  const least = LEVELS.indexOf(level)
  return (at, message) => {
    if (LEVELS.indexOf(at) < least) return
    err(`${new Date(now()).toISOString()} judge ${at}: ${message.replaceAll(token, '***')}\n`)
  }
}
