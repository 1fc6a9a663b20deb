import type { Io } from '@parley/command-line'

/**
 * What our own programs get of the environment. They are told everything else by their plan: a variable that nobody thought of
 * is most likely somebody's key, and a judge runs what strangers wrote.
 */
const PROGRAM = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TMPDIR', 'TZ'],
  ...['NODE_OPTIONS', 'NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'PARLEY_DEBUG'],
  // Without these nothing starts on Windows.
  ...['SYSTEMROOT', 'WINDIR', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
]
/** The way to a PostgreSQL that its URL leaves open, and out of a network to models. */
const GATEWAY = [
  ...['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGPASSFILE', 'PGDATABASE', 'PGOPTIONS', 'PGAPPNAME', 'PGCONNECT_TIMEOUT'],
  ...['PGSSLMODE', 'PGSSLCERT', 'PGSSLKEY', 'PGSSLROOTCERT', 'PGSSLNEGOTIATION'],
  ...['NODE_USE_ENV_PROXY', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
]

const NAMES = { gateway: new Set([...PROGRAM, ...GATEWAY]), judge: new Set(PROGRAM), host: new Set(PROGRAM) }

/** What a program of others needs to run at all. Everything else, secrets above all, it gets only when it is named. */
const CORE = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ']

/** The environment of a program of others, beside what it is given. */
export const coreEnv = (env: Io['env']): Record<string, string> =>
  Object.fromEntries(CORE.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])))

/** The environment as a child gets it that does what its caller could do: all of it. */
export const wholeEnv = (env: Io['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The environment of one of the programs of `up`. */
export function programEnv(program: keyof typeof NAMES, env: Io['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      // Proxies are also set in small letters, and on Windows case means nothing.
      value !== undefined && NAMES[program].has(name.toUpperCase()) ? [[name, value]] : [],
    ),
  )
}
