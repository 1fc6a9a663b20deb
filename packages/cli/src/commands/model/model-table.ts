import type { CommandSpec } from '@parley/command-line'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'

const CHANNEL = { name: 'CHANNEL', doc: 'the channel, as channel list names it' }
const MODEL = { name: 'MODEL', doc: 'the model, as its provider names it' }
const PRICE_NOTE = 'Prices are dollars per million tokens. A model without a price can be used, and is shown as unpriced.'
const price = (what: string) => ({ doc: `${what}, in dollars per million; none takes it away`, value: 'USD' })

/** Models, the channels to them, what they cost and what was used. */
export const MODEL_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'model list',
    summary: 'Lists the models that jobs may name, with their prices',
    options: { live: { doc: 'asks the channels which models they have right now' }, ...JOB_OPTIONS },
    notes: [WHERE_NOTE, PRICE_NOTE],
    run: async (invocation) => (await import('./models.ts')).modelList(invocation),
  },
  {
    name: 'usage',
    summary: 'Says what the calls of models came to, and your quota',
    more: 'An admin sees everybody’s.',
    options: {
      by: { doc: 'what is summed up (default day)', value: 'WHAT', choices: ['day', 'model', 'job', 'agent', 'user'] },
      agent: { doc: 'of this agent alone, by its name or id', value: 'AGENT' },
      ...JOB_OPTIONS,
    },
    notes: [WHERE_NOTE, 'Days are those of UTC.'],
    run: async (invocation) => (await import('./usage.ts')).usage(invocation),
  },
  {
    name: 'channel list',
    summary: 'Lists the channels to models, with masked keys; for admins',
    options: JOB_OPTIONS,
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./models.ts')).channelList(invocation),
  },
  {
    name: 'channel set',
    summary: 'Adds a channel to models or changes one; for admins',
    more: 'What is not said stays.',
    options: {
      'base-url': { doc: 'where it is: https://api.openai.com/v1', value: 'BASE' },
      'key-file': { doc: 'a file with its key in it; - is stdin', value: 'FILE', isFile: true },
      'no-key': { doc: 'forgets its key' },
      wire: { doc: 'how it is spoken to', value: 'WIRE', choices: ['responses', 'chat'] },
      kind: { doc: 'a server, or a file of answers that is played', value: 'KIND', choices: ['openai', 'script'] },
      script: { doc: 'the script that is played, by its name', value: 'NAME' },
      'models-path': { doc: 'where it lists its models (default /models)', value: 'PATH' },
      'display-name': { doc: 'what people see', value: 'TEXT' },
      enable: { doc: 'lets jobs use it' },
      disable: { doc: 'lets no job use it' },
      ...JOB_OPTIONS,
    },
    positionals: [CHANNEL],
    notes: [WHERE_NOTE, 'The key is kept encrypted and is never shown.'],
    run: async (invocation) => (await import('./models.ts')).channelSet(invocation),
  },
  {
    name: 'channel delete',
    summary: 'Removes a channel with its models and prices; for admins',
    options: JOB_OPTIONS,
    positionals: [CHANNEL],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./models.ts')).channelDelete(invocation),
  },
  {
    name: 'pricing list',
    summary: 'Lists the models that have a price; for admins',
    options: JOB_OPTIONS,
    notes: [WHERE_NOTE, PRICE_NOTE],
    run: async (invocation) => (await import('./models.ts')).pricingList(invocation),
  },
  {
    name: 'pricing set',
    summary: 'Adds a model of a channel or changes its prices; for admins',
    more: 'What is not said stays.',
    options: {
      channel: { doc: 'the channel that has it', value: 'CHANNEL' },
      input: price('tokens of the request'),
      cached: price('tokens of the request that the provider had kept'),
      output: price('tokens of the answer'),
      'cached-output': price('tokens of the answer that the provider had kept'),
      reasoning: price('tokens of reasoning, where they have a price of their own'),
      context: { doc: 'tokens that its context holds', value: 'N' },
      on: { doc: 'lets jobs name it' },
      off: { doc: 'lets no job name it' },
      ...JOB_OPTIONS,
    },
    positionals: [MODEL],
    notes: [WHERE_NOTE, 'What was booked keeps the prices of its day.'],
    run: async (invocation) => (await import('./models.ts')).pricingSet(invocation),
  },
  {
    name: 'pricing delete',
    summary: 'Removes a model of a channel; for admins',
    more: 'What was booked stays.',
    options: { channel: { doc: 'the channel that has it', value: 'CHANNEL' }, ...JOB_OPTIONS },
    positionals: [MODEL],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./models.ts')).pricingDelete(invocation),
  },
]
