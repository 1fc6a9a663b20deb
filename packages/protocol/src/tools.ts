import type * as z from 'zod'
import { accountGet, accountPasswd } from './tools/account.ts'
import { auditExport, auditSearch } from './tools/audit.ts'
import { blobAbort, blobBegin, blobCommit, blobWrite } from './tools/blob.ts'
import { channelDelete, channelList, channelModels, channelSet } from './tools/channel.ts'
import { jobCancel, jobCreate, jobDelete, jobGetState, jobList, jobRetry, jobStart, jobWait } from './tools/job.ts'
import {
  jobGetArtifacts,
  jobGetInput,
  jobGetTestPreview,
  jobGetTests,
  jobReadInput,
  jobReadLog,
  jobSubscribe,
  jobUnsubscribe,
} from './tools/job-content.ts'
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
} from './tools/judge-job.ts'
import {
  judgeClaimNext,
  judgeDrain,
  judgeHeartbeat,
  judgeInputList,
  judgeInputReadChunk,
  judgeList,
  judgeReleaseClaim,
} from './tools/judge.ts'
import { modelsList } from './tools/models.ts'
import { pricingDelete, pricingList, pricingSet } from './tools/pricing.ts'
import { tokenCreate, tokenList, tokenRevoke } from './tools/token.ts'
import { usageEvents, usageSummary, userSetQuota } from './tools/usage.ts'
import {
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
} from './tools/user.ts'

/** Every tool that works today, by name. Schemas, the reference, the typed client and the role servers are made from this. */
export const TOOLS = {
  'account.get': accountGet,
  'account.passwd': accountPasswd,
  'audit.export': auditExport,
  'audit.search': auditSearch,
  'blob.abort': blobAbort,
  'blob.begin': blobBegin,
  'blob.commit': blobCommit,
  'blob.write': blobWrite,
  'channel.delete': channelDelete,
  'channel.list': channelList,
  'channel.models': channelModels,
  'channel.set': channelSet,
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
} as const

export type ToolName = keyof typeof TOOLS
/** What a caller may leave out is optional here. */
export type ToolInput<Name extends ToolName> = z.input<(typeof TOOLS)[Name]['input']>
/** What a handler gets: defaults filled in. */
export type ToolArguments<Name extends ToolName> = z.output<(typeof TOOLS)[Name]['input']>
export type ToolOutput<Name extends ToolName> = z.output<(typeof TOOLS)[Name]['output']>
