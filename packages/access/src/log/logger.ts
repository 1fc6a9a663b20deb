import { type DestinationStream, type Logger, pino } from 'pino'
import { redactor } from './redact.ts'

export interface LoggerOptions {
  /** `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. */
  readonly level: string
  readonly destination: DestinationStream
  /** Texts that must never appear, besides everything that looks like a token. */
  readonly secrets?: readonly string[]
}

/** Fields that hold secrets by their name, whatever the value looks like. */
const SECRET_FIELDS = ['authorization', 'password', 'passwordHash', 'password_hash', 'token', 'secret', 'cookie']

/** A pino logger whose lines carry no secret: fields by name, and the finished line by shape. */
export function createLogger(options: LoggerOptions): Logger {
  const mask = redactor(options.secrets ?? [])
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
      hooks: { streamWrite: mask },
    },
    options.destination,
  )
}
