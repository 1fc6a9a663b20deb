import { type HttpAnswer } from '@parley/fetch'

type Headers = HttpAnswer['headers']

/** How long an answer asks us to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. */
export function askedWaitMs(headers: Headers, now: number): number | undefined {
  const exact = Number(textOf(headers['retry-after-ms']) ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact)
  const text = textOf(headers['retry-after'])
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : Math.ceil(seconds * 1_000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const textOf = (value: string | string[] | undefined): string | undefined => {
  const text = Array.isArray(value) ? value[0] : value
  return text === undefined || text.trim() === '' ? undefined : text.trim()
}
