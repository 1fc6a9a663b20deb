import type { OptionSpec } from '@parley/command-line'
import { JSON_OPTION } from './json-option.ts'
import { INSTANCE_OPTIONS } from './instance-options.ts'
import { TARGET_OPTIONS } from './target.ts'

/** For every command that goes to a gateway: where it is. */
export const JOB_OPTIONS = { ...TARGET_OPTIONS, ...INSTANCE_OPTIONS, ...JSON_OPTION } as const satisfies Record<
  string,
  OptionSpec
>

export const WHERE_NOTE = 'Without --url it goes to the gateway that runs on --data (default .parley of the clone).'
