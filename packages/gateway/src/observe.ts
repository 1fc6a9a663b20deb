import { type GatewayCaller, lineOfStranger, type Recorder } from '@parley/access'
import { type Observer } from '@parley/rpc'
import { Meter, type Rate } from '@parley/protocol'
import type { Logger } from 'pino'
import type { Metrics } from './metric/metrics.ts'

/** Refused connections that are written down; a flood of them is counted in the metrics, not copied into the database. */
const DENIED_LINES: Rate = { perSecond: 5, burst: 50 }
const CLIENT_NAME_CHARS = 64

/** Turns what passes on the wires into numbers, log lines and, for refused connections, audit lines. */
export function openObserver(options: {
  readonly metrics: Metrics
  readonly audit: Recorder
  readonly log: Logger
  readonly now: () => number
}): Observer<GatewayCaller> {
  const { metrics, audit, log, now } = options
  const deniedLines = new Meter(DENIED_LINES, now)
  return {
    opened({ caller, client, revision }, wire) {
      metrics.opened(wire, caller.role)
      const by = client.info?.name.slice(0, CLIENT_NAME_CHARS)
      log.info({ ...whose(caller), wire, revision, client: by }, 'connection opened')
    },
    closed({ caller }, wire, reason) {
      log.info({ ...whose(caller), wire, reason }, 'connection closed')
    },
    served(event) {
      metrics.served(event)
      if (log.isLevelEnabled('debug')) {
        const { caller, wire, era, method, errorCode, ms } = event
        log.debug({ ...whose(caller), wire, era, method: method.slice(0, CLIENT_NAME_CHARS), errorCode, ms }, 'served')
      }
    },
    denied({ wire, status, code, remoteAddress }) {
      metrics.denied(wire, status, code)
      if (!deniedLines.take()) return
      log.info({ wire, status, code, remote: remoteAddress }, 'connection denied')
      audit.note(lineOfStranger('connect', { at: now(), outcome: 'denied', code, remote: remoteAddress }))
    },
    malformed({ wire, code, remoteAddress }) {
      metrics.malformed(wire, code)
      log.debug({ wire, code, remote: remoteAddress }, 'malformed message')
    },
    failed({ wire, method, error }) {
      metrics.failed(wire)
      log.error({ wire, method: method.slice(0, CLIENT_NAME_CHARS), err: error }, 'a request failed by a fault of ours')
    },
  }
}

function whose({ role, admin, key, remote }: GatewayCaller) {
  return admin ? { role, admin, key, remote } : { role, key, remote }
}
