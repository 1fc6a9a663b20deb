import type { ObservedVersion } from '../../registry/registry-types.ts'
import type { Scenario } from '../scenario.ts'
import { clientScenarios } from './client-session.ts'
import { conversationScenarios } from './conversations.ts'
import { laterScenarios } from './later-versions.ts'
import { serviceScenarios } from './services.ts'
import { toolScenarios } from './tool-calls.ts'
import { approvalScenarios, turnScenarios } from './turns.ts'

/** Every scenario that is recorded from this version. */
export function scenariosOf(version: ObservedVersion): readonly Scenario[] {
  const all = [
    ...serviceScenarios(version),
    ...conversationScenarios(version),
    ...turnScenarios(version),
    ...approvalScenarios(version),
    ...clientScenarios(),
    ...laterScenarios(),
    ...toolScenarios(version),
  ]
  return all.filter(({ versions }) => versions.includes(version))
}
