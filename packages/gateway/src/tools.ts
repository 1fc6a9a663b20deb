import { type ServedTool } from '@parley/access'
import { accountGet, accountPasswd } from './account/tools.ts'
import { auditExport, auditSearch } from './account/audit-tools.ts'
import { blobAbort, blobBegin, blobCommit, blobWrite } from './blob/tools.ts'
import { channelDelete, channelList, channelModels, channelSet } from './channel/tools.ts'
import { jobCreate, jobRetry } from './job/create-tools.ts'
import { modelsList } from './channel/models-tool.ts'
import {
  judgeJobAppendAgentStatus,
  judgeJobAppendCase,
  judgeJobAppendTerminal,
  judgeJobAppendTranscript,
  judgeJobGetState,
  judgeJobPatchState,
  judgeJobPutArtifacts,
  judgeJobReadTranscript,
  judgePrepareGenerate,
  judgeUsageIngest,
} from './judge/job-tools.ts'
import {
  judgeClaimNext,
  judgeDrain,
  judgeHeartbeat,
  judgeInputList,
  judgeInputReadChunk,
  judgeList,
  judgeReleaseClaim,
} from './judge/tools.ts'
import { jobCancel, jobDelete, jobGetState, jobList, jobStart, jobWait } from './job/tools.ts'
import { jobGetArtifacts, jobGetTestPreview, jobGetTests } from './job/content-tools.ts'
import { jobGetInput, jobReadInput } from './job/input-tools.ts'
import { jobReadLog, jobSubscribe, jobUnsubscribe } from './job/stream-tools.ts'
import { pricingDelete, pricingList, pricingSet } from './channel/pricing-tools.ts'
import type { ToolName } from '@parley/protocol'
import type { World } from './world.ts'
import { tokenCreate, tokenList, tokenRevoke } from './account/token-tools.ts'
import { usageEvents, usageSummary } from './usage/tools.ts'
import {
  userAdd,
  userDisable,
  userEnable,
  userLink,
  userList,
  userPasswd,
  userSetIdentity,
  userSetQuota,
} from './account/user-tools.ts'
import { executorDrain, executorList, workerHeartbeat } from './worker/tools.ts'
import { userDelete, userDemote, userPromote } from './account/user-rights-tools.ts'

import { agentCreate, agentDelete, agentGet, agentList, agentToken, agentUpdate } from './agent/agent-tools.ts'
import { agentFork } from './agent/agent-fork.ts'
import { hostCallBegin, hostCallEnd, hostCallGet, hostCalls } from './agent/background/background-tools.ts'
import { chatMarkRead, chatPost, chatReadSince, hostChatPost, hostChatRead } from './agent/chat-tools.ts'
import { hostNews, hostTellNews, hostYield } from './agent/news-tools.ts'
import { agentReadLog } from './agent/agent-logs.ts'
import { auditVerify } from './agent/audit-verify.ts'
import { grantList, grantSet } from './agent/grant-tools.ts'
import {
  hostAgentGet,
  hostAgentListen,
  hostAgentReport,
  hostAgentsKnown,
  hostClaimNext,
  hostDrain,
  hostList,
  hostMountRenewed,
  hostRelease,
  hostRenew,
} from './agent/host-tools.ts'
import { agentAbort, agentPrompt, agentPrompts, agentRun, agentWait } from './agent/prompt-tools.ts'
import { hostAppendCalls, hostAppendTranscript, hostEndPrompt, hostNextPrompt, hostReadTranscript } from './agent/turn-tools.ts'
import { approvalDecide, approvalDecideMany, approvalGet, approvalList, approvalResolve } from './approval/approval-tools.ts'
import { hostApprovalStep, hostApprovals, hostAsk } from './approval/host-approval-tools.ts'
import {
  policyActivate,
  policyDisallow,
  policyGet,
  policyHistory,
  policyListProposals,
  policyReplay,
  policyRetire,
  policySet,
  policyTest,
} from './approval/policy-tools.ts'
import { hostPropose, policyPropose, hostPolicy, hostWithdraw } from './approval/proposal-tools.ts'
import { hostPrepareTurn } from './agent/prepare-turn.ts'
import { mountAttach, mountDetach, mountList, mountSignIn } from './agent/mount-tools.ts'

/** Every tool of the protocol, and what does it. One that is declared and not served is a fault that the types tell. */
export const BUILT_IN_TOOLS = {
  'account.get': accountGet,
  'account.passwd': accountPasswd,
  'agent.abort': agentAbort,
  'agent.create': agentCreate,
  'agent.delete': agentDelete,
  'agent.fork': agentFork,
  'agent.get': agentGet,
  'agent.list': agentList,
  'agent.prompt': agentPrompt,
  'agent.prompts': agentPrompts,
  'agent.read_log': agentReadLog,
  'agent.run': agentRun,
  'agent.token': agentToken,
  'agent.update': agentUpdate,
  'agent.wait': agentWait,
  'approval.decide': approvalDecide,
  'approval.decide_many': approvalDecideMany,
  'approval.get': approvalGet,
  'approval.list': approvalList,
  'approval.resolve': approvalResolve,
  'audit.export': auditExport,
  'audit.search': auditSearch,
  'audit.verify': auditVerify,
  'blob.abort': blobAbort,
  'blob.begin': blobBegin,
  'blob.commit': blobCommit,
  'blob.write': blobWrite,
  'channel.delete': channelDelete,
  'channel.list': channelList,
  'channel.models': channelModels,
  'channel.set': channelSet,
  'chat.mark_read': chatMarkRead,
  'chat.post': chatPost,
  'chat.read_since': chatReadSince,
  'executor.drain': executorDrain,
  'executor.list': executorList,
  'grant.list': grantList,
  'grant.set': grantSet,
  'host.agent_get': hostAgentGet,
  'host.agent_listen': hostAgentListen,
  'host.agent_report': hostAgentReport,
  'host.agents_known': hostAgentsKnown,
  'host.append_calls': hostAppendCalls,
  'host.append_transcript': hostAppendTranscript,
  'host.approval_step': hostApprovalStep,
  'host.approvals': hostApprovals,
  'host.ask': hostAsk,
  'host.call_begin': hostCallBegin,
  'host.call_end': hostCallEnd,
  'host.call_get': hostCallGet,
  'host.calls': hostCalls,
  'host.chat_post': hostChatPost,
  'host.chat_read': hostChatRead,
  'host.claim_next': hostClaimNext,
  'host.drain': hostDrain,
  'host.end_prompt': hostEndPrompt,
  'host.list': hostList,
  'host.mount_renewed': hostMountRenewed,
  'host.news': hostNews,
  'host.next_prompt': hostNextPrompt,
  'host.prepare_turn': hostPrepareTurn,
  'host.policy': hostPolicy,
  'host.propose': hostPropose,
  'host.withdraw': hostWithdraw,
  'host.read_transcript': hostReadTranscript,
  'host.release': hostRelease,
  'host.renew': hostRenew,
  'host.tell_news': hostTellNews,
  'host.yield': hostYield,
  'job.cancel': jobCancel,
  'job.create': jobCreate,
  'job.delete': jobDelete,
  'job.get_artifacts': jobGetArtifacts,
  'job.get_input': jobGetInput,
  'job.get_state': jobGetState,
  'job.get_test_preview': jobGetTestPreview,
  'job.get_tests': jobGetTests,
  'job.list': jobList,
  'job.read_input': jobReadInput,
  'job.read_log': jobReadLog,
  'job.retry': jobRetry,
  'job.start': jobStart,
  'job.subscribe': jobSubscribe,
  'job.unsubscribe': jobUnsubscribe,
  'job.wait': jobWait,
  'judge.claim_next': judgeClaimNext,
  'judge.drain': judgeDrain,
  'judge.heartbeat': judgeHeartbeat,
  'judge.input.list': judgeInputList,
  'judge.input.read_chunk': judgeInputReadChunk,
  'judge.job.append_agent_status': judgeJobAppendAgentStatus,
  'judge.job.append_case': judgeJobAppendCase,
  'judge.job.append_terminal': judgeJobAppendTerminal,
  'judge.job.append_transcript': judgeJobAppendTranscript,
  'judge.job.get_state': judgeJobGetState,
  'judge.job.patch_state': judgeJobPatchState,
  'judge.job.put_artifacts': judgeJobPutArtifacts,
  'judge.job.read_transcript': judgeJobReadTranscript,
  'judge.list': judgeList,
  'judge.prepare_generate': judgePrepareGenerate,
  'judge.release_claim': judgeReleaseClaim,
  'judge.usage.ingest': judgeUsageIngest,
  'models.list': modelsList,
  'mount.attach': mountAttach,
  'mount.detach': mountDetach,
  'mount.list': mountList,
  'mount.sign_in': mountSignIn,
  'policy.activate': policyActivate,
  'policy.disallow': policyDisallow,
  'policy.get': policyGet,
  'policy.history': policyHistory,
  'policy.list_proposals': policyListProposals,
  'policy.propose': policyPropose,
  'policy.replay': policyReplay,
  'policy.retire': policyRetire,
  'policy.set': policySet,
  'policy.test': policyTest,
  'pricing.delete': pricingDelete,
  'pricing.list': pricingList,
  'pricing.set': pricingSet,
  'token.create': tokenCreate,
  'token.list': tokenList,
  'token.revoke': tokenRevoke,
  'usage.events': usageEvents,
  'usage.summary': usageSummary,
  'user.add': userAdd,
  'user.delete': userDelete,
  'user.demote': userDemote,
  'user.disable': userDisable,
  'user.enable': userEnable,
  'user.link': userLink,
  'user.list': userList,
  'user.passwd': userPasswd,
  'user.promote': userPromote,
  'user.set_identity': userSetIdentity,
  'user.set_quota': userSetQuota,
  'worker.heartbeat': workerHeartbeat,
} satisfies Record<ToolName, ServedTool<World>>
