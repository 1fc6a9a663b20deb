import { type GatewayCaller, outOfScope, type ServedTool, type TaskKind, withinScopes } from '@parley/access'
import { type HeldScopes, isInScope, RpcError, type Scoped } from '@parley/protocol'
import type { KnownTask } from '@parley/task'
import type { World } from '../world.ts'

interface Begun {
  readonly spec: Scoped
  readonly kind: TaskKind<World>
}

/**
 * What tools have begun, for tokens with these scopes. It lives in the store, so that it is found here whichever gateway began it. Who may call
 * the tool may also end what it began; who only reads is told how it stands.
 */
export class KnownTasks {
  readonly #begun: readonly Begun[]
  readonly #scopes: HeldScopes
  readonly #world: World

  constructor(tools: readonly ServedTool<World>[], scopes: HeldScopes, world: World) {
    const kinds = tools.flatMap(({ spec, task }) => (task === undefined ? [] : [{ spec, kind: task }]))
    this.#begun = kinds.filter(({ spec }) => isInScope(scopes, spec, true))
    this.#scopes = scopes
    this.#world = world
  }

  get isEmpty(): boolean {
    return this.#begun.length === 0
  }

  async find(taskId: string, caller: GatewayCaller): Promise<KnownTask | undefined> {
    for (const { spec, kind } of this.#begun) {
      const found = (use: 'read' | 'change') =>
        kind.find(taskId, { caller: withinScopes(caller, use), call: undefined, world: this.#world })
      const own = isInScope(this.#scopes, spec, false) ? await found('change') : undefined
      if (own !== undefined) return own
      // An admin's token may read more than it may change.
      const seen = this.#scopes?.includes('read') === true ? await found('read') : undefined
      if (seen !== undefined) return lookOnly(seen, spec, caller)
    }
    return undefined
  }
}

function lookOnly(task: KnownTask, { scopes = [] }: Scoped, caller: GatewayCaller): KnownTask {
  const refused = (): never => {
    throw new RpcError('invalid_params', outOfScope('what ends or answers a task', scopes, caller))
  }
  return { detailed: () => task.detailed(), watch: (changed) => task.watch(changed), answer: refused, cancel: refused }
}
