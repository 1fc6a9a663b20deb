import type { Audience } from './roles.ts'
import { EVERY_SCOPE, type Scoped } from './scopes.ts'

/** One kind of resource as data. Reading it is what its own scopes are for, and `read` is enough for all. `{name}` in the URI is a variable; without one it is listed, with one it is a template. */
export interface ResourceSpec extends Scoped {
  readonly uri: string
  readonly name: string
  readonly roles: readonly Audience[]
  readonly doc: string
  readonly mimeType: string
}

/** Every resource that works today. Which topics of the store mean that one changed is said where it is served. */
export const RESOURCES = {
  'resource://account': {
    uri: 'resource://account',
    name: 'account',
    roles: ['user', 'judge', 'host', 'executor'],
    scopes: EVERY_SCOPE,
    doc: 'Who the token says you are; changes when your account does.',
    mimeType: 'application/json',
  },
  'resource://agents/list': {
    uri: 'resource://agents/list',
    name: 'agents',
    roles: ['user'],
    scopes: ['agents'],
    doc: 'Your agents, newest first; an admin sees all.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/state': {
    uri: 'resource://agents/{id}/state',
    name: 'agent-state',
    roles: ['user'],
    scopes: ['agents'],
    doc: 'One agent: whether it is awake, and which host holds it.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/mounts': {
    uri: 'resource://agents/{id}/mounts',
    name: 'agent-mounts',
    roles: ['user'],
    scopes: ['agents'],
    doc: 'What is mounted for an agent, and what became of each mount.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/transcript': {
    uri: 'resource://agents/{id}/transcript',
    name: 'agent-transcript',
    roles: ['user'],
    scopes: ['agents'],
    doc: 'What a local agent was told, said and did, one JSON document a line: the last 256 KiB. agent.read_log has all of it.',
    mimeType: 'application/x-ndjson',
  },
  'resource://agents/{id}/calls': {
    uri: 'resource://agents/{id}/calls',
    name: 'agent-calls',
    roles: ['user'],
    scopes: ['agents'],
    doc: 'What the agent called and what became of it, one JSON document each: the last 256 KiB.',
    mimeType: 'application/x-ndjson',
  },
  'resource://agents/{id}/calls/{call_id}': {
    uri: 'resource://agents/{id}/calls/{call_id}',
    name: 'agent-background-call',
    roles: ['user'],
    scopes: ['agents'],
    doc: 'A call that an agent made in the background: its tool, how it stands, when it began and ended, and its result.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/chat': {
    uri: 'resource://agents/{id}/chat',
    name: 'agent-chat',
    roles: ['user'],
    scopes: ['agents'],
    doc: 'What people and an agent said to each other: the last 50 messages, and how far each reader has read. chat.read_since has the rest.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/approvals': {
    uri: 'resource://agents/{id}/approvals',
    name: 'agent-approvals',
    roles: ['user'],
    scopes: ['agents', 'approvals'],
    doc: 'Calls of one agent that people are or were asked about, newest first.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/policy': {
    uri: 'resource://agents/{id}/policy',
    name: 'agent-policy',
    roles: ['user'],
    scopes: ['agents', 'approvals'],
    doc: 'The policies that decide about an agent now, as they are written, and what people have allowed it for a while.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/proposals': {
    uri: 'resource://agents/{id}/proposals',
    name: 'agent-proposals',
    roles: ['user'],
    scopes: ['agents', 'approvals'],
    doc: 'The policies that were proposed for an agent, newest first, and what became of them.',
    mimeType: 'application/json',
  },
  'resource://approvals/pending': {
    uri: 'resource://approvals/pending',
    name: 'pending-approvals',
    roles: ['user'],
    scopes: ['approvals'],
    doc: 'Calls that wait for somebody to decide, of all agents that you may decide for.',
    mimeType: 'application/json',
  },
  'resource://hosts/list': {
    uri: 'resource://hosts/list',
    name: 'hosts',
    roles: ['admin'],
    scopes: ['admin'],
    doc: 'The hosts and how many agents each of them holds.',
    mimeType: 'application/json',
  },
  'resource://jobs/list': {
    uri: 'resource://jobs/list',
    name: 'jobs',
    roles: ['user'],
    scopes: ['jobs'],
    doc: 'Your jobs, newest first; an admin sees all.',
    mimeType: 'application/json',
  },
  'resource://jobs/{id}/state': {
    uri: 'resource://jobs/{id}/state',
    name: 'job-state',
    roles: ['user'],
    scopes: ['jobs'],
    doc: 'What became of a job so far.',
    mimeType: 'application/json',
  },
  'resource://jobs/{id}/report': {
    uri: 'resource://jobs/{id}/report',
    name: 'job-report',
    roles: ['user'],
    scopes: ['jobs'],
    doc: 'What the judge found; there once the job has ended by itself.',
    mimeType: 'application/json',
  },
  'resource://jobs/{id}/terminal': {
    uri: 'resource://jobs/{id}/terminal',
    name: 'job-terminal',
    roles: ['user'],
    scopes: ['jobs'],
    doc: 'What the compilers and programs printed: the last 256 KiB. job.read_log has all of it.',
    mimeType: 'text/plain',
  },
  'resource://jobs/{id}/agent-status': {
    uri: 'resource://jobs/{id}/agent-status',
    name: 'job-agent-status',
    roles: ['user'],
    scopes: ['jobs'],
    doc: 'The status lines of the job, one JSON document each: the last 256 KiB.',
    mimeType: 'application/x-ndjson',
  },
  'resource://jobs/{id}/cases': {
    uri: 'resource://jobs/{id}/cases',
    name: 'job-cases',
    roles: ['user'],
    scopes: ['jobs'],
    doc: 'The finished cases, one JSON document each: the last 256 KiB.',
    mimeType: 'application/x-ndjson',
  },
  'resource://judges/list': {
    uri: 'resource://judges/list',
    name: 'judges',
    roles: ['admin'],
    scopes: ['admin'],
    doc: 'The judges, their load and what their sandboxes enforce.',
    mimeType: 'application/json',
  },
  'resource://executors/list': {
    uri: 'resource://executors/list',
    name: 'executors',
    roles: ['admin'],
    scopes: ['admin'],
    doc: 'The executors, their labels and what runs on them.',
    mimeType: 'application/json',
  },
  'resource://models/list': {
    uri: 'resource://models/list',
    name: 'models',
    roles: ['user'],
    scopes: ['jobs', 'agents'],
    doc: 'The models that jobs may name, with their prices; the upstreams are not asked.',
    mimeType: 'application/json',
  },
  'resource://users/list': {
    uri: 'resource://users/list',
    name: 'users',
    roles: ['admin'],
    scopes: ['admin'],
    doc: 'The accounts.',
    mimeType: 'application/json',
  },
  'resource://tokens/list': {
    uri: 'resource://tokens/list',
    name: 'tokens',
    roles: ['admin'],
    scopes: ['admin'],
    doc: 'The tokens, without their secrets.',
    mimeType: 'application/json',
  },
} as const satisfies Record<string, ResourceSpec>

export type ResourceUri = keyof typeof RESOURCES
