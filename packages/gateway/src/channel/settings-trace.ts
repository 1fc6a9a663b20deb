import { type GatewayCaller, lineOf, type Recorder } from '@parley/access'
import type { SettingsTrace } from '@parley/models'

/** Writes down what the settings change as a tool's change is: before it and after it, by whoever starts the gateway. */
export const openSettingsTrace =
  (audit: Pick<Recorder, 'record'>, starter: GatewayCaller, now: () => number): SettingsTrace =>
  async (action, target, change) => {
    const line = (code: string) => lineOf(starter, action, { at: now(), outcome: 'ok', code, target })
    await audit.record(line('begun'))
    await change()
    await audit.record(line('settings'))
  }
