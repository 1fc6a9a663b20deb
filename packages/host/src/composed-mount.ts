import type { MountOptions } from '@parley/agent'
import type { HeldMount } from '@parley/protocol'

/** A mount as the compositor takes it: how it is shown and what it may ask, without where its server is. */
export function composedMount({ name, options }: HeldMount): MountOptions {
  const {
    plain,
    eager,
    allow,
    deny,
    renames,
    resources,
    prompts,
    roots,
    asks,
    samples,
    era,
    call_timeout_ms: callTimeoutMs,
  } = options
  return {
    name,
    plain,
    eager,
    callTimeoutMs,
    ...(era === undefined ? {} : { era }),
    tools: {
      ...(allow === undefined ? {} : { only: allow }),
      without: deny,
      renamed: Object.fromEntries(renames.map(({ from, to }) => [from, to])),
    },
    resources: shownOf(resources),
    prompts: shownOf(prompts),
    questions: { elicitation: asks, sampling: samples },
    roots: roots.map((uri) => ({ uri })),
  }
}

const shownOf = ({ allow, deny }: HeldMount['options']['resources']) => ({
  ...(allow === undefined ? {} : { only: allow }),
  without: deny,
})
