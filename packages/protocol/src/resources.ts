import type { Audience } from './roles.ts'

/** One kind of resource as data. `{name}` in the URI is a variable; without one it is listed, with one it is a template. */
export interface ResourceSpec {
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
    doc: 'Who the token says you are; changes when your account does.',
    mimeType: 'application/json',
  },
  'resource://agents/list': {
    uri: 'resource://agents/list',
    name: 'agents',
    roles: ['user'],
    doc: 'Your agents, newest first; an admin sees all.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/state': {
    uri: 'resource://agents/{id}/state',
    name: 'agent-state',
    roles: ['user'],
    doc: 'One agent: whether it is awake, and which host holds it.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/mounts': {
    uri: 'resource://agents/{id}/mounts',
    name: 'agent-mounts',
    roles: ['user'],
    doc: 'What is mounted for an agent, and what became of each mount.',
    mimeType: 'application/json',
  },
  'resource://agents/{id}/transcript': {
    uri: 'resource://agents/{id}/transcript',
    name: 'agent-transcript',
    roles: ['user'],
    doc: 'What a local agent was told, said and did, one JSON document a line: the last 256 KiB. agent.read_log has all of it.',
    mimeType: 'application/x-ndjson',
  },
  'resource://agents/{id}/calls': {
    uri: 'resource://agents/{id}/calls',
    name: 'agent-calls',
    roles: ['user'],
    doc: 'What the agent called and what became of it, one JSON document each: the last 256 KiB.',
    mimeType: 'application/x-ndjson',
  },
  'resource://agents/{id}/approvals': {
    uri: 'resource://agents/{id}/approvals',
    name: 'agent-approvals',
    roles: ['user'],
    doc: 'Calls of one agent that people are or were asked about, newest first.',
    mimeType: 'application/json',
  },
  'resource://approvals/pending': {
    uri: 'resource://approvals/pending',
    name: 'pending-approvals',
    roles: ['user'],
    doc: 'Calls that wait for somebody to decide, of all agents that you may decide for.',
    mimeType: 'application/json',
  },
  'resource://hosts/list': {
    uri: 'resource://hosts/list',
    name: 'hosts',
    roles: ['admin'],
    doc: 'The hosts and how many agents each of them holds.',
    mimeType: 'application/json',
  },
  'resource://jobs/list': {
    uri: 'resource://jobs/list',
    name: 'jobs',
    roles: ['user'],
    doc: 'Your jobs, newest first; an admin sees all.',
    mimeType: 'application/json',
  },
  'resource://jobs/{id}/state': {
    uri: 'resource://jobs/{id}/state',
    name: 'job-state',
    roles: ['user'],
    doc: 'What became of a job so far.',
    mimeType: 'application/json',
  },
  'resource://jobs/{id}/report': {
    uri: 'resource://jobs/{id}/report',
    name: 'job-report',
    roles: ['user'],
    doc: 'What the judge found; there once the job has ended by itself.',
    mimeType: 'application/json',
  },
  'resource://jobs/{id}/terminal': {
    uri: 'resource://jobs/{id}/terminal',
    name: 'job-terminal',
    roles: ['user'],
    doc: 'What the compilers and programs printed: the last 256 KiB. job.read_log has all of it.',
    mimeType: 'text/plain',
  },
  'resource://jobs/{id}/agent-status': {
    uri: 'resource://jobs/{id}/agent-status',
    name: 'job-agent-status',
    roles: ['user'],
    doc: 'The status lines of the job, one JSON document each: the last 256 KiB.',
    mimeType: 'application/x-ndjson',
  },
  'resource://jobs/{id}/cases': {
    uri: 'resource://jobs/{id}/cases',
    name: 'job-cases',
    roles: ['user'],
    doc: 'The finished cases, one JSON document each: the last 256 KiB.',
    mimeType: 'application/x-ndjson',
  },
  'resource://judges/list': {
    uri: 'resource://judges/list',
    name: 'judges',
    roles: ['admin'],
    doc: 'The judges, their load and what their sandboxes enforce.',
    mimeType: 'application/json',
  },
  'resource://executors/list': {
    uri: 'resource://executors/list',
    name: 'executors',
    roles: ['admin'],
    doc: 'The executors, their labels and what runs on them.',
    mimeType: 'application/json',
  },
  'resource://models/list': {
    uri: 'resource://models/list',
    name: 'models',
    roles: ['user'],
    doc: 'The models that jobs may name, with their prices; the upstreams are not asked.',
    mimeType: 'application/json',
  },
  'resource://users/list': {
    uri: 'resource://users/list',
    name: 'users',
    roles: ['admin'],
    doc: 'The accounts.',
    mimeType: 'application/json',
  },
  'resource://tokens/list': {
    uri: 'resource://tokens/list',
    name: 'tokens',
    roles: ['admin'],
    doc: 'The tokens, without their secrets.',
    mimeType: 'application/json',
  },
} as const satisfies Record<string, ResourceSpec>

export type ResourceUri = keyof typeof RESOURCES
