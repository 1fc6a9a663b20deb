import { agentsSoak } from './agents.ts'
import { approvalsSoak } from './approvals/approvals-soak.ts'
import { attackSoak } from './attack.ts'
import { chatSoak } from './chat/chat-soak.ts'
import { codexExecutorSoak } from './codex-executor.ts'
import { engineSoak } from './engine.ts'
import { executorSoak } from './executor.ts'
import { jobsSoak } from './jobs.ts'
import { killSoak } from './kill.ts'
import { malformedSoak } from './malformed.ts'
import { schedulesSoak } from './schedules.ts'
import { sessionsSoak } from './sessions.ts'
import type { Soak } from '../soak.ts'

export const SOAKS: readonly Soak[] = [
  sessionsSoak,
  malformedSoak,
  killSoak,
  jobsSoak,
  engineSoak,
  executorSoak,
  codexExecutorSoak,
  attackSoak,
  agentsSoak,
  approvalsSoak,
  chatSoak,
  schedulesSoak,
]
