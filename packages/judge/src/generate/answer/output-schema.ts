import type { JsonObject } from '@parley/protocol'

const text = (description: string): JsonObject => ({ type: 'string', description })

const PROPERTIES: JsonObject = {
  main: text('The whole program, as one file. Nothing around it.'),
  solution_idea: text('How the program solves the problem.'),
  seed_code_idea: text('What the code of the user tries to do; empty if there is none.'),
  seed_code_bug_reason: text('What is wrong with the code of the user; empty if there is none.'),
  user_feedback_md: text('An explanation for the user, in Markdown.'),
  seed_code_issue_type: { type: 'string', enum: ['wrong_approach', 'minor_bug', 'no_seed_code'] },
  seed_code_wrong_lines: {
    type: 'array',
    items: { type: 'integer' },
    description: 'Lines of the user’s code that are wrong, from 1.',
  },
  seed_code_fix_diff: text('The smallest unified diff that mends the code of the user; empty if there is none.'),
  assumptions: { type: 'array', items: { type: 'string' } },
  complexity: text('Time and memory of the program.'),
}

/** What a model has to answer with. Every member is required and nothing else is allowed: providers' strict modes want it so. */
export const SOLUTION_SCHEMA: JsonObject = {
  type: 'object',
  properties: PROPERTIES,
  required: Object.keys(PROPERTIES),
  additionalProperties: false,
}
