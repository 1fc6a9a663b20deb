import { accountGet, accountPasswd } from './account.ts'
import { auditExport, auditSearch } from './audit.ts'
import { blobAbort, blobBegin, blobCommit, blobWrite } from './blob.ts'
import { channelDelete, channelList, channelModels, channelSet } from './channel.ts'
import { jobCreate, jobRetry } from './job-create.ts'
import { modelsList } from './models.ts'
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
} from './judge-job.ts'
import {
  judgeClaimNext,
  judgeDrain,
  judgeHeartbeat,
  judgeInputList,
  judgeInputReadChunk,
  judgeList,
  judgeReleaseClaim,
} from './judge.ts'
import { jobCancel, jobDelete, jobGetState, jobList, jobStart, jobWait } from './job.ts'
import { jobGetArtifacts, jobGetTestPreview, jobGetTests } from './job-content.ts'
import { jobGetInput, jobReadInput } from './job-input.ts'
import { jobReadLog, jobSubscribe, jobUnsubscribe } from './job-stream.ts'
import { pricingDelete, pricingList, pricingSet } from './pricing.ts'
import type { ServedTool } from './served-tool.ts'
import { tokenCreate, tokenList, tokenRevoke } from './token.ts'
import { usageEvents, usageSummary } from './usage.ts'
import { userAdd, userDisable, userEnable, userLink, userList, userPasswd, userSetIdentity, userSetQuota } from './user.ts'
import { userDelete, userDemote, userPromote } from './user-rights.ts'

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
