import type { ModelLimits } from '@parley/mini'
import type { Settings } from '../config/setting.ts'

export type ModelSetting = 'modelTries' | 'modelWaitMs' | 'modelSilentMs'

/** What the settings say of asking a model; what they leave open is the engine's own. */
export const modelLimitsOf = (settings: Pick<Settings, ModelSetting>): Partial<ModelLimits> => {
  const { modelTries: attempts, modelWaitMs: waitedMs, modelSilentMs: firstTokenMs } = settings
  return {
    ...(attempts === undefined ? {} : { attempts }),
    ...(waitedMs === undefined ? {} : { waitedMs }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
  }
}
