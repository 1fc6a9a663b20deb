import { LISTED_MAX, type ResourceRequest, type ServedResource, watchTopics } from '@parley/access'
import { AgentId, CallId, RESOURCES, ToolError } from '@parley/protocol'
import {
  type AgentRecord,
  agentTopic,
  agentsTopic,
  backgroundTopic,
  callsLog,
  chatTopic,
  transcriptLog,
  workersTopic,
} from '@parley/store'
import { readTail } from '../job/log-read.ts'
import { workerViews } from '../worker/worker-view.ts'
import { agentPage } from './agent-tools.ts'
import { agentView } from './agent-view.ts'
import type { AgentWorld } from './agent-world.ts'
import { backgroundView } from './background/background-tools.ts'
import { chatView } from './chat-tools.ts'
import { findAgent } from './find-agent.ts'
import { mountViews } from './mount-tools.ts'

/** How much of the end of a log is read as a resource. */
const TAIL_BYTES = 256 * 1024

const list: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/list'],
  read: ({ world, caller }) => agentPage(world.store, caller, { limit: LISTED_MAX }),
  watch: (request, changed) => {
    const { admin, userId } = request.caller
    return watchTopics(request, admin ? ['agents'] : userId === null ? [] : [agentsTopic(userId)], changed)
  },
}

const state: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/state'],
  read: async (request) => agentView(request.world.store, await agentOf(request)),
  watch: watchAgent,
}

const mounts: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/mounts'],
  read: async (request) => ({ items: await mountViews(request.world.store, await agentOf(request)) }),
  watch: watchAgent,
}

const calls: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/calls'],
  read: async (request) => readTail(request.world.store.logs, callsLog((await agentOf(request)).id), TAIL_BYTES),
  watch: async (request, changed) => request.world.watch.logs.watch(callsLog((await agentOf(request)).id), changed),
}

const backgroundCall: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/calls/{call_id}'],
  read: async (request) => {
    const { id } = await agentOf(request)
    return backgroundView(request.world.store, id, callOf(request))
  },
  watch: async (request, changed) => {
    const { id } = await agentOf(request)
    await backgroundView(request.world.store, id, callOf(request))
    return watchTopics(request, [backgroundTopic(id)], changed)
  },
}

const transcript: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/transcript'],
  read: async (request) => readTail(request.world.store.logs, transcriptLog((await agentOf(request)).id), TAIL_BYTES),
  watch: async (request, changed) => request.world.watch.logs.watch(transcriptLog((await agentOf(request)).id), changed),
}

const chat: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://agents/{id}/chat'],
  read: async (request) => chatView(request.world.store, (await agentOf(request)).id),
  watch: async (request, changed) => watchTopics(request, [chatTopic((await agentOf(request)).id)], changed),
}

const hosts: ServedResource<AgentWorld> = {
  spec: RESOURCES['resource://hosts/list'],
  read: ({ world }) => workerViews(world, 'host', { gone: false }),
  watch: (request, changed) => watchTopics(request, [workersTopic('host')], changed),
}

export const AGENT_RESOURCES: readonly ServedResource<AgentWorld>[] = [
  list,
  state,
  mounts,
  transcript,
  calls,
  backgroundCall,
  chat,
  hosts,
]

async function watchAgent(request: ResourceRequest<AgentWorld>, changed: () => void): Promise<() => void> {
  const { id } = await agentOf(request)
  return watchTopics(request, [agentTopic(id)], changed)
}

function callOf({ part }: ResourceRequest<AgentWorld>): CallId {
  const parsed = CallId.safeParse(part)
  if (!parsed.success) throw new ToolError('not_found', 'there is no such call')
  return parsed.data
}

async function agentOf({ world, caller, id }: ResourceRequest<AgentWorld>): Promise<AgentRecord> {
  const parsed = AgentId.safeParse(id)
  if (!parsed.success) throw new ToolError('not_found', 'there is no such agent')
  return findAgent(world.store, parsed.data, caller)
}
