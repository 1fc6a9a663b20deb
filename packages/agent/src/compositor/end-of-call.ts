import { CallCancelled } from '@parley/protocol'
import type { Call } from '@parley/rpc'

type Cancellation = Call['cancellation']

/**
 * What ends a call at its mount. One that a person let through ends by its caller's own wish alone: it counts as sent, once, and what it does
 * cannot be taken back. If it ended with a caller that is merely cut off, nobody would know what became of it.
 */
export const endOf = ({ cancellation }: Pick<Call, 'cancellation'>, isApproved: boolean): Cancellation =>
  isApproved ? unlessCutOff(cancellation) : cancellation

function unlessCutOff(cancellation: Cancellation): Cancellation {
  const isWished = (): boolean => cancellation.aborted && cancellation.reason instanceof CallCancelled
  const passedOn = new Map<() => void, () => void>()
  return {
    get aborted() {
      return isWished()
    },
    get reason() {
      return isWished() ? cancellation.reason : undefined
    },
    addEventListener: (type, listener) => {
      const ifWished = (): void => {
        if (isWished()) listener()
      }
      passedOn.set(listener, ifWished)
      cancellation.addEventListener(type, ifWished, { once: true })
    },
    removeEventListener: (type, listener) => {
      const ifWished = passedOn.get(listener)
      if (ifWished === undefined) return
      passedOn.delete(listener)
      cancellation.removeEventListener(type, ifWished)
    },
  }
}
