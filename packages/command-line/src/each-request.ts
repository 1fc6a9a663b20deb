/** `timeout` sends a signal to its command and at once to the group of it, and systemd may add another kind. */
const REPEATED_MS = 10
/** npm passes on what it gets to a command that got it too, when a terminal or a supervisor told all of them. */
const REPEATED_BY_NPM_MS = 1_000

/**
 * Lets through what somebody asked, and not what a program between them and us repeated: a second request to end means "at
 * once", and must be meant.
 */
export function eachRequest<Signal>(
  asked: (signal: Signal) => void,
  env: Readonly<Record<string, string | undefined>>,
  steadyNow: () => number,
): (signal: Signal) => void {
  const repeatedMs = isRunByNpm(env) ? REPEATED_BY_NPM_MS : REPEATED_MS
  let askedAt = -Infinity
  return (signal) => {
    const now = steadyNow()
    if (now - askedAt < repeatedMs) return
    askedAt = now
    asked(signal)
  }
}

/** Only as the command of a script: whatever such a command starts inherits npm's variables too. */
function isRunByNpm(env: Readonly<Record<string, string | undefined>>): boolean {
  return /\bparley(\.js)?\b/.test(env['npm_lifecycle_script'] ?? '')
}
