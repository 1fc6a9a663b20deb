export { callText } from './call-text.ts'
export { linkTeller, openCommandClient } from './command-client.ts'
export { BUDGET_OPTIONS } from './agent/budget-options.ts'
export { agentRow, agentText } from './agent/agent-text.ts'
export { boundsOf, hasBounds } from './agent/bounds.ts'
export { restText, wakeText } from './agent/wake.ts'
export { WAKE_OPTIONS } from './agent/wake-options.ts'
export { budgetsText } from './agent/budgets.ts'
export { followPrompt } from './agent/follow-prompt.ts'
export { FORK_OPTIONS, forkAgent, forkWords } from './agent/fork.ts'
export { lineText } from './agent/line-text.ts'
export { agentName, MOUNT_WORDS, mountNotes, mountsText } from './agent/mount-text.ts'
export { type ReadLine, readLines, transcriptEnd } from './agent/read-lines.ts'
export { CALLS_OPTIONS, callsWords, showCalls } from './agent/show-calls.ts'
export { tellIfExternal } from './agent/tell-if-external.ts'
export { tellWarnings } from './agent/tell-warnings.ts'
export { decideApproval, lastPending } from './approval/decide-approval.ts'
export { APPROVE_OPTIONS, approveWords } from './approval/approve-options.ts'
export { LIST_OPTIONS, listWords } from './approval/list-options.ts'
export { approvalsText, approvalText, wholeText } from './approval/approval-text.ts'
export { watchApprovals } from './approval/watch-approvals.ts'
export { chatWith } from './chat/chat.ts'
export { newKey } from './chat/chat-link.ts'
export { CHAT_OPTIONS, type ChatWords, chatWords } from './chat/chat-options.ts'
export { neverStarted, neverStartedText, startOrDelete } from './job/never-started.ts'
export { chooseModel } from './job/submit/model-options.ts'
export { inOptions } from './job/submit/option-names.ts'
export { type Submission, submissionOf } from './job/submit/submission.ts'
export { sendTests } from './job/submit/upload.ts'
export { zipFolder } from './job/submit/zip-folder.ts'
export { endingText, exitCodeOf, readEnding } from './job/view/ending.ts'
export { statusWord } from './job/view/status-word.ts'
export { statusWithReason, waitingText } from './job/view/waiting-text.ts'
export { watchJob } from './job/watch-job.ts'
export {
  activatePolicy,
  digestOf,
  draftOf,
  draftWords,
  POLICY_WORDS,
  type PolicyCommand,
  policyHistory,
  proposePolicy,
  replayPolicy,
  retirePolicy,
  setPolicy,
  shownVersion,
  showPolicy,
  testPolicy,
  trialOf,
  versionOf,
} from './policy/policy-commands.ts'
export { TRIED_CALL_OPTIONS } from './policy/tried-call.ts'
export { namedPolicy, type NamedPolicy, neededAgent, type PolicyOwner, WHOSE_OPTIONS } from './policy/whose.ts'
export { quotaBounds, quotaText } from './quota.ts'
export { SCOPE_NOTE, SCOPE_OPTION, scopesIn, scopesText } from './scopes.ts'
export { toldByOption } from './told-by-option.ts'
