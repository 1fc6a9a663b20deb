import type { JsonObject } from '@parley/protocol'

export const text = (description: string): JsonObject => ({ description, type: 'string' })
export const flag = (description: string): JsonObject => ({ description, type: 'boolean' })

export const DESCRIPTION = 'Run a Codex session. Accepts configuration parameters matching the Codex Config struct.'
export const PROFILE = 'Configuration profile from config.toml to specify default options.'
export const PLAN_TOOL = 'Whether to include the plan tool in the conversation.'
export const NEXT_PROMPT = text('The *next user prompt* to continue the Codex conversation.')

/** What every version has. */
export const IN_ALL: JsonObject = {
  prompt: text('The *initial user prompt* to start the Codex conversation.'),
  cwd: text(
    "Working directory for the session. If relative, it is resolved against the server process's current working directory.",
  ),
  sandbox: {
    ...text('Sandbox mode: `read-only`, `workspace-write`, or `danger-full-access`.'),
    enum: ['read-only', 'workspace-write', 'danger-full-access'],
  },
  config: {
    description: 'Individual config settings that will override what is in CODEX_HOME/config.toml.',
    type: 'object',
    additionalProperties: true,
  },
  'base-instructions': text('The set of instructions to use instead of the default ones.'),
}
