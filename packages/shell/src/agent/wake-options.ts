import type { OptionSpec } from '@parley/command-line'

/** What wakes a local agent while it rests. */
export const WAKE_OPTIONS = {
  wake: {
    doc: 'what wakes a local one that rests: chat, resources, calls with commas between, or none (default: all)',
    value: 'WHAT',
  },
  'wake-every': { doc: 'how often resources that change wake it at most: 10s, 5m (default: 10s)', value: 'TIME' },
} as const satisfies Record<string, OptionSpec>
