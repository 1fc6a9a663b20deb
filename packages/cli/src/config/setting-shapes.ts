import * as z from 'zod'
import { ChannelSetting } from './channel-setting.ts'

export const Switch = z.union(
  [
    z.boolean(),
    z.enum(['on', 'off', 'true', 'false', 'yes', 'no', '1', '0']).transform((word) => ['on', 'true', 'yes', '1'].includes(word)),
  ],
  {
    error: 'must be on or off',
  },
)
export const Port = z.coerce
  .number({ error: 'must be a number' })
  .int('must be a whole number')
  .min(0, 'must be 0 or more')
  .max(65_535, 'must be at most 65535')
export const LeaseMs = z.coerce
  .number({ error: 'must be a number' })
  .int('must be a whole number')
  .min(1_000, 'must be 1000 or more')
  .max(600_000, 'must be at most 600000')
export const WaitMs = z.coerce
  .number({ error: 'must be a number' })
  .int('must be a whole number')
  .min(1_000, 'must be 1000 or more')
  .max(604_800_000, 'must be a week at most: 604800000')
export const Names = z.union(
  [
    z.array(z.string()),
    z.string().transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    ),
  ],
  {
    error: 'must be a list of names, separated by commas',
  },
)
export const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
export const Text = z.string({ error: 'must be text' }).min(1, 'must not be empty')
export const Bound = z.coerce
  .number({ error: 'must be a number' })
  .int('must be a whole number')
  .min(0, 'must be 0 or more')
  .max(Number.MAX_SAFE_INTEGER, 'must be smaller')
  .optional()
export const Tries = z.coerce
  .number({ error: 'must be a number' })
  .int('must be a whole number')
  .min(1, 'must be 1 or more')
  .max(100, 'must be at most 100')
export const ModelMs = z.coerce
  .number({ error: 'must be a number' })
  .int('must be a whole number')
  .min(0, 'must be 0 or more')
  .max(1_200_000, 'must be at most 1200000')
export const Channels = z.array(ChannelSetting, { error: 'must be tables: [[channels]]' }).default([])
/** Whoever guesses it is let in: it must be long. */
export const WorkerToken = Text.min(32, 'must have at least 32 characters').optional()
