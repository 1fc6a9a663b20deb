import { accountGet, accountPasswd } from './account/tools.ts'
import { auditExport, auditSearch } from './account/audit-tools.ts'
import { blobAbort, blobBegin, blobCommit, blobWrite } from './blob/tools.ts'
import { channelDelete, channelList, channelModels, channelSet } from './channel/tools.ts'
import { jobCreate, jobRetry } from './job/create/tools.ts'
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
import { jobReadLog, jobSubscribe, jobUnsubscribe } from './job/stream/tools.ts'
import { pricingDelete, pricingList, pricingSet } from './channel/pricing-tools.ts'
import type { ServedTool } from './tool/served-tool.ts'
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
import { userDelete, userDemote, userPromote } from './account/user-rights-tools.ts'

/** Every tool of the protocol that works here. */
export const BUILT_IN_TOOLS: readonly ServedTool[] = [
  accountGet,
  accountPasswd,
  auditExport,
  auditSearch,
  blobAbort,
  blobBegin,
  blobCommit,
  blobWrite,
  channelDelete,
  channelList,
  channelModels,
  channelSet,
  jobCreate,
  jobRetry,
  modelsList,
  judgeClaimNext,
  judgeDrain,
  judgeHeartbeat,
  judgeInputList,
  judgeInputReadChunk,
  judgeJobAppendAgentStatus,
  judgeJobAppendCase,
  judgeJobAppendTerminal,
  judgeJobAppendTranscript,
  judgeJobGetState,
  judgeJobPatchState,
  judgeJobPutArtifacts,
  judgeJobReadTranscript,
  judgeList,
  judgePrepareGenerate,
  judgeReleaseClaim,
  judgeUsageIngest,
  jobCancel,
  jobDelete,
  jobGetArtifacts,
  jobGetInput,
  jobGetState,
  jobGetTestPreview,
  jobGetTests,
  jobList,
  jobReadInput,
  jobReadLog,
  jobStart,
  jobSubscribe,
  jobUnsubscribe,
  jobWait,
  pricingDelete,
  pricingList,
  pricingSet,
  tokenCreate,
  tokenList,
  tokenRevoke,
  usageEvents,
  usageSummary,
  userAdd,
  userDelete,
  userDemote,
  userDisable,
  userEnable,
  userLink,
  userList,
  userPasswd,
  userPromote,
  userSetIdentity,
  userSetQuota,
]
