import type { LogLevel } from '../service.ts'

/** MCP's levels, least important first. */
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

export function isLogLevel(text: unknown): text is LogLevel {
  return LEVELS.some((level) => level === text)
}

export function isAtLeast(level: LogLevel, wanted: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(wanted)
}
