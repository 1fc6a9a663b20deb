import { createHash } from 'node:crypto'
import {
  AGENT_LIMITS,
  AgentId,
  AgentKind,
  AgentName,
  AgentSettings,
  MountSettings,
  MountReport,
  UserId,
  isJsonObject,
  parseJson,
} from '@parley/protocol'
import { type Row, type Value, InvalidArgument, flag, integer, text, toJson } from '@parley/database'
import { MAX_MOUNT_BYTES, checkName } from '../../limits.ts'
import type { AgentRecord, MountRecord, NewMount } from './agent.ts'

const Reported = MountReport.array().max(AGENT_LIMITS.mounts)

export function toAgent(row: Row): AgentRecord {
  return {
    id: AgentId.parse(text(row, 'id')),
    ownerId: ownerOf(row),
    ownerName: text(row, 'owner_name'),
    name: AgentName.parse(text(row, 'name')),
    kind: AgentKind.parse(text(row, 'kind')),
    preset: text(row, 'preset'),
    settings: toSettings(row),
    status: toStatus(text(row, 'status')),
    version: integer(row, 'version'),
    mounts: integer(row, 'mount_count'),
    // What a host said counts only while that host holds the agent.
    reported: flag(row, 'is_reported') ? Reported.parse(parseJson(text(row, 'reported'))) : [],
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}

export const ownerOf = (row: Row): UserId => UserId.parse(text(row, 'owner_id'))
export const toSettings = (row: Row): AgentSettings => AgentSettings.parse(parseJson(text(row, 'settings')))

function toStatus(word: string): AgentRecord['status'] {
  if (word === 'active' || word === 'deleting') return word
  throw new TypeError(`an agent is ${word}`)
}

export function toMount(row: Row): MountRecord {
  return {
    agentId: AgentId.parse(text(row, 'agent_id')),
    name: text(row, 'name'),
    sealed: text(row, 'sealed'),
    shown: text(row, 'shown'),
    options: MountSettings.parse(parseJson(text(row, 'options'))),
    version: integer(row, 'version'),
    attachedAt: integer(row, 'attached_at'),
  }
}

/** A mount as columns: name, sealed, shown, options, plain. */
export function mountValues({ name, sealed, shown, options }: NewMount): readonly Value[] {
  checkName('mount.name', name)
  checkName('mount.sealed', sealed, MAX_MOUNT_BYTES)
  checkName('mount.shown', shown, MAX_MOUNT_BYTES)
  if (!isShown(shown)) throw new InvalidArgument('mount.shown', 'must be a JSON object')
  return [name, sealed, shown, toJson('mount.options', MountSettings, options), options.plain ? 1 : 0]
}

export const settingsColumn = (settings: AgentSettings): string => toJson('settings', AgentSettings, settings)
export const reportColumn = (mounts: readonly MountReport[]): string => toJson('mounts', Reported, mounts)

/** Refuses what could not be read back as the name of an agent. */
export function checkAgentName(name: string): void {
  const read = AgentName.safeParse(name)
  if (!read.success) throw new InvalidArgument('name', read.error.issues[0]?.message ?? 'is no name of an agent')
}

/** What a URI is found by. */
export const uriHash = (uri: string): string => createHash('sha256').update(uri).digest('hex')

/** Whether somebody can be shown it as a specification. */
export const isShown = (shown: string): boolean => isJsonObject(parseJson(shown))
