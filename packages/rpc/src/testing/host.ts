import { randomBytes } from 'node:crypto'
import { BodyRoom } from '../core/body-room.ts'
import { CallerTable } from '../core/callers.ts'
import type { Host } from '../core/host.ts'
import { StateSeal } from '../core/request-state.ts'
import { Turns } from '../core/turns.ts'
import { openReplayRoom, openUnreadRoom } from '../core/unread-room.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits.ts'
import type { Caller, Service } from '../service.ts'

/** What connections share, for tests that need no server around them. */
export function testHost(service: Service, limits: Partial<Limits> = {}): Host<Caller> {
  const all = { ...DEFAULT_LIMITS, ...limits }
  return {
    wire: 'http',
    door: { authenticate: () => ({ key: 'me' }), serviceFor: () => service },
    limits: all,
    observer: {},
    seal: new StateSeal(randomBytes(32), all.requestStateMs, Date.now),
    callers: new CallerTable(),
    bodies: new BodyRoom(all),
    unread: openUnreadRoom(all),
    replays: openReplayRoom(all),
    turns: new Turns(all),
    now: Date.now,
    active: { calls: 0 },
  }
}
