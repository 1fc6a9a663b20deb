export { absentChecks, observedChecks, toolCallFaults } from './checks.ts'
export { liveChecks } from './live-checks.ts'
