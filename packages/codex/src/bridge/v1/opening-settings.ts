import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { ApprovalPolicy, OpenOrder } from '../../port/order.ts'
import { readRollout } from '../rollout/read-rollout.ts'
import { environmentOf, modeOf, policyOf } from '../rollout/recorded-gate.ts'
import type { OpenedThread } from '../dialect.ts'
import { type Configured, configuredFor } from './configured.ts'
import { type SandboxTag, sandboxParams } from './sandbox-params.ts'
import type { TurnSettings } from './turn-params.ts'

export interface OpeningSettingsOptions {
  readonly order: OpenOrder
  readonly opened: OpenedThread
  /** How long the conversation's file was before it was opened: what stands behind it is of this process. */
  readonly recordedFrom: number
  readonly tag: SandboxTag
  readonly ask: (method: string, params?: JsonObject) => Promise<JsonValue>
}

/**
 * What a conversation was opened with: the one place that knows it. These versions do not tell it. What Codex wrote down
 * since it opened the conversation says it best, then the order; only what neither says is looked up in the configuration.
 */
export class OpeningSettings {
  readonly #options: OpeningSettingsOptions
  #known: Promise<TurnSettings> | undefined

  constructor(options: OpeningSettingsOptions) {
    this.#options = options
  }

  /** Learnt before the first turn that has settings of its own: after it Codex writes down those as well. */
  known(): Promise<TurnSettings> {
    if (this.#known === undefined) {
      const learning = this.#learn()
      this.#known = learning
      // Somebody who asks again may get what could not be had now.
      learning.catch(() => (this.#known = undefined))
    }
    return this.#known
  }

  async #learn(): Promise<TurnSettings> {
    const { order, opened, recordedFrom, ask, tag } = this.#options
    const records = await readRollout(opened.rolloutPath, recordedFrom)
    const [context] = records.contexts
    const recorded = context === undefined ? undefined : settingsIn(context, tag)
    if (recorded !== undefined) return recorded
    const told = environmentOf(records)
    const configured = await configuredFor(order, ask, tag === 'type')
    const write = configured.workspaceWrite
    return {
      // Codex resolves it against its own folder, which is where a conversation without one is.
      cwd: order.folder ?? '.',
      approvalPolicy: order.approvalPolicy ?? told.approvalPolicy ?? askingPolicy(configured),
      sandboxPolicy: sandboxParams(
        {
          mode: order.sandbox ?? told.sandboxMode ?? modeOf(configured.sandboxMode),
          networkAccess: order.network ?? told.networkAccess ?? write['network_access'] === true,
          writableRoots: textsIn(write['writable_roots']),
          excludeTmpdirEnvVar: write['exclude_tmpdir_env_var'] === true,
          excludeSlashTmp: write['exclude_slash_tmp'] === true,
        },
        tag,
      ),
      model: opened.model,
      effort: opened.effort,
      summary: typeof configured.summary === 'string' ? configured.summary : 'auto',
    }
  }
}

/** A configuration has more layers than are told, so that its word for never asking is not enough to never ask. */
function askingPolicy({ approvalPolicy }: Configured): ApprovalPolicy {
  const policy = policyOf(approvalPolicy)
  return policy === 'never' ? 'untrusted' : policy
}

/** What held for a request, as Codex wrote it down; undefined for what cannot be said again in its words. */
function settingsIn(context: JsonObject, tag: SandboxTag): TurnSettings | undefined {
  const { cwd, approval_policy: policy, sandbox_policy: sandboxPolicy, model, effort, summary } = context
  if (typeof cwd !== 'string' || typeof model !== 'string') return undefined
  if (!isJsonObject(sandboxPolicy) || typeof sandboxPolicy[tag] !== 'string') return undefined
  return {
    cwd,
    approvalPolicy: policyOf(policy),
    sandboxPolicy,
    model,
    effort: typeof effort === 'string' ? effort : null,
    summary: typeof summary === 'string' ? summary : 'auto',
  }
}

const textsIn = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
