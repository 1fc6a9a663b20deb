import type { Agent, Mount } from '@parley/protocol'
import type { Io } from '@parley/command-line'
import { agoText, type Cell, columns, named, plainText, timeText } from '@parley/screen'
import { budgetsText } from './budgets.ts'
import { mountsText } from './mount-text.ts'
import { restText, wakeText } from './wake.ts'

type Reader = Pick<Io, 'env' | 'now' | 'screen' | 'typed'>

/** All of an agent, for whoever looks at this one. */
export function agentText(agent: Agent, mounts: readonly Pick<Mount, 'state'>[], io: Reader): string {
  const { name, agent_id, kind, owner, preset, status, host, model, engine, folder, instructions, turn } = agent
  const rows = [
    ['agent', `${name} (${agent_id})`],
    ['kind', kind],
    ['owner', owner],
    ['preset', preset],
    ['status', host === null ? status : `${status}, on ${host}`],
    ['mounts', io.typed(mountsText(name, mounts))],
    ['model', model ?? ''],
    ['engine', engine ?? ''],
    ['folder', folder ?? ''],
    ['budgets', budgetsText(agent.budgets)],
    ['turn', turnText(turn)],
    ['waits', io.typed(askedText(agent))],
    ['woken by', kind === 'local' ? wakeText(agent.wake) : ''],
    ['rests', agent.rest === null ? '' : restText(agent.rest, (at) => timeText(at, io))],
    ['made', agoText(agent.created_at, io)],
    ['changed', agoText(agent.updated_at, io)],
    ['told', plainText(instructions.split('\n')[0] ?? '')],
  ]
  return columns(
    rows.filter(([, value]) => value !== ''),
    io.screen(),
  )
}

/** One of many. */
export function agentRow(agent: Agent, io: Pick<Io, 'env' | 'now' | 'screen'>): Cell[] {
  const { name, kind, status, turn, mounts, host, owner, updated_at, agent_id, approvals_pending: asked } = agent
  const turns = turn.running === null ? status : `${status}, takes a turn`
  const doing = asked === 0 ? turns : `${turns}, waits for a person`
  return [named(name), kind, doing, String(mounts), named(host ?? ''), named(owner), agoText(updated_at, io), agent_id]
}

function turnText({ running, queued }: Agent['turn']): string {
  const waits = queued === 0 ? '' : `${queued} ${queued === 1 ? 'waits' : 'wait'}`
  return [running === null ? '' : `answers ${running}`, waits].filter((text) => text !== '').join(', ')
}

function askedText({ approvals_pending: asked }: Agent): string {
  if (asked === 0) return ''
  return `${asked === 1 ? 'a call waits' : `${asked} calls wait`} for a person: parley approvals list`
}
