import { ApprovalId, messageOf } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import { expect, test } from 'vitest'
import { ProbeServer, said } from './fixture/probe-server.ts'
import { openTestCompositor, type TestCompositor } from './fixture/test-compositor.ts'
import type { CallRecorder, CompositorOptions, MountDecision } from './ports.ts'

const APPROVED: MountDecision = { kind: 'allow', approval: ApprovalId.parse('apr_00000000000000000000000001') }
const ALLOWED: MountDecision = { kind: 'allow' }

/** A server that is in the middle of one call: what it was told, and how it goes on. */
interface Middle {
  readonly world: TestCompositor
  readonly events: string[]
  /** The call has come there. */
  readonly came: Promise<void>
  /** It was cancelled there. */
  readonly cancelled: Promise<void>
  /** The compositor has heard that the caller is gone. */
  readonly left: Promise<void>
  readonly goesOn: () => void
  [Symbol.asyncDispose](): Promise<void>
}

const defer = (): PromiseWithResolvers<void> => Promise.withResolvers()

async function openMiddle(era: 'legacy' | 'modern', decision: MountDecision): Promise<Middle> {
  const events: string[] = []
  const recorder: CallRecorder<Caller> = {
    decided: () => undefined,
    dispatched: () => events.push('dispatched'),
    returned: () => events.push('returned'),
    failed: () => events.push('failed'),
  }
  const [came, cancelled, left, end] = [defer(), defer(), defer(), defer()]
  const decide: CompositorOptions<Caller>['gate']['decide'] = (_call, wait) => {
    wait.cancellation.addEventListener('abort', left.resolve, { once: true })
    return decision
  }
  const world = await openTestCompositor({ gate: { decide }, recorder })
  const probe = new ProbeServer()
  probe.answers['echo'] = async (_params, call) => {
    call.cancellation.addEventListener('abort', cancelled.resolve, { once: true })
    came.resolve()
    await end.promise
    return said('done')
  }
  world.mount(probe, { name: 'm', era })
  return {
    world,
    events,
    came: came.promise,
    cancelled: cancelled.promise,
    left: left.promise,
    goesOn: end.resolve,
    [Symbol.asyncDispose]: async () => await world[Symbol.asyncDispose](),
  }
}

for (const era of ['legacy', 'modern'] as const) {
  test(`what a person let through goes on at a ${era} server when its caller is cut off`, async () => {
    await using middle = await openMiddle(era, APPROVED)
    const client = await middle.world.client({ era: 'modern' })
    const call = client.callToolRaw('m_echo', {}).catch(messageOf)
    await middle.came
    await client.close()
    await call
    await middle.left
    expect(middle.events).toEqual(['dispatched'])
    middle.goesOn()
    await expect.poll(() => middle.events).toEqual(['dispatched', 'returned'])
  })

  test(`it ends at a ${era} server when its caller wishes so`, async () => {
    await using middle = await openMiddle(era, APPROVED)
    const client = await middle.world.client({ era: 'legacy' })
    const wish = new AbortController()
    const call = client.callToolRaw('m_echo', {}, { signal: wish.signal }).catch(messageOf)
    await middle.came
    wish.abort()
    await call
    await middle.cancelled
    await expect.poll(() => middle.events).toEqual(['dispatched', 'failed'])
  })

  test(`what nobody was asked about ends at a ${era} server with its caller`, async () => {
    await using middle = await openMiddle(era, ALLOWED)
    const client = await middle.world.client({ era: 'modern' })
    const call = client.callToolRaw('m_echo', {}).catch(messageOf)
    await middle.came
    await client.close()
    await call
    await middle.cancelled
    await expect.poll(() => middle.events).toEqual(['dispatched', 'failed'])
  })
}
