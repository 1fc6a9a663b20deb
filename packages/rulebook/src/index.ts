export { type ActivePolicies, activePolicies, layersOf, layersWith } from './active-policies.ts'
export { policyEntry, policyIn } from './policy-view.ts'
export { countedCalls } from './recorded-calls.ts'
export { reviewPolicy } from './review-policy.ts'
