import { CLOCK_SETTING } from '@parley/database'

export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** What the rows are ordered by: unique, so that a copy can go on from the last one. */
  readonly key: readonly string[]
  /** Rows of before that say nothing afterwards, by their key. They are not copied. */
  readonly passing?: ReadonlySet<string>
}

const table = (name: string, key: string, others = ''): Table => {
  const keys = key.split(' ')
  return { name, key: keys, columns: [...keys, ...others.split(' ').filter((column) => column !== '')] }
}

/** All that a backup holds, parents before children. What is not here is derived from it after a restore. */
export const TABLES: readonly Table[] = [
  { ...table('settings', 'key', 'value'), passing: new Set([CLOCK_SETTING]) },
  table(
    'users',
    'id',
    'username password_hash admin disabled created_at last_sign_in_at deleted_at identity_issuer identity_subject',
  ),
  table('tokens', 'id', 'hash role name user_id agent_id created_at expires_at revoked_at last_used_at scopes made_by'),
  table('sign_ins', 'jti', 'user_id expires_at revoked_at'),
  table('sign_in_links', 'hash', 'user_id expires_at used_at'),
  table('audit_entries', 'seq', 'at actor role action target outcome code remote'),
  table('logs', 'id', 'name closed max_bytes max_entries first_seq first_offset chain_head'),
  table('log_entries', 'log_id seq', 'end_offset at bytes chain'),
  table('leases', 'queue id', 'key payload holder turns claims available_at lane round'),
  table('served_rounds', 'queue', 'round'),
  table('blobs', 'sha256', 'size content touched_at'),
  table('blob_holders', 'sha256 holder'),
  table('blob_chunks', 'content number', 'bytes'),
  table('blob_garbage', 'content'),
  table('uploads', 'id', 'owner size touched_at'),
  table(
    'jobs',
    'id',
    'owner_id status outline retry_of created_at started_at finished_at expires_at claim_id fence machine_id judge_name claimed_at begun released claims lost_claims attempt error summary containers kept_bytes',
  ),
  table('job_inputs', 'job_id', 'spec blob files cases'),
  table('job_artifacts', 'job_id name', 'attempt claim sha256 bytes at'),
  table(
    'channels',
    'name',
    'display_name kind base_url wire models_path script sealed_key key_hint enabled source created_at updated_at',
  ),
  table('models', 'channel model', 'display_name context_tokens prices active source created_at updated_at'),
  table(
    'usage',
    'id',
    'status job_id owner_id claim_id claim attempt call_id channel model thread_id source estimated input_tokens cached_input_tokens output_tokens cached_output_tokens reasoning_output_tokens prices cost_microusd at agent_id prompt',
  ),
  table('quotas', 'user_id', 'jobs_at_once tokens_per_day microusd_per_day kept_bytes kept_jobs'),
  table('judges', 'machine_id', 'name token_id drain first_seen_at last_seen_at left_at facts'),
  table('workers', 'kind name', 'token_id instance drain first_seen_at last_seen_at left_at slots labels facts load'),
  table('agents', 'id', 'owner_id name kind preset settings status version reported fence created_at updated_at'),
  table('mounts', 'agent_id name', 'sealed shown options plain version attached_at'),
  table('subscriptions', 'agent_id hash', 'uri told'),
  table('prompts', 'id', 'agent_id number body told_by status aborted_at outcome fence created_at started_at ended_at woken_by'),
  table('chat_messages', 'agent_id number', 'said_from said_by body post_key created_at'),
  table('chat_markers', 'agent_id reader', 'read_to updated_at'),
  table('news', 'agent_id number', 'kind hash subject body created_at'),
  table(
    'background_calls',
    'id',
    'agent_id number tool arguments state fence result result_bytes cut error message started_at ended_at',
  ),
  table('loops', 'agent_id', 'last_news heard_chat woken_news woken_chat woken_at yielded waits wake_at'),
  table(
    'approvals',
    'id',
    'agent_id owner_id kind mount name digest arguments preview preview_sha256 caller reason status fence created_at expires_at caller_gone_at decision decided_by decision_reason decided_at resolved_by dispatched_at ended_at mount_version policy rule layer askers approvers people votes edited',
  ),
  table(
    'policies',
    'subject version',
    'layer user_id agent_id status body sha256 note review base created_by created_at activated_by activated_at',
  ),
  table('allowances', 'id', 'agent_id session kind mount mount_version name digest answers created_by created_at expires_at'),
  table('model_keys', 'hash', 'job_id claim_id claim attempt agent_id fence prompt channel model budget created_at'),
  table('agent_spending', 'agent_id', 'tokens microusd before_at'),
  table('grants', 'user_id', 'body set_at'),
]

/** Tables that are about this moment alone: which gateways run. Their rows are not copied. */
export const PASSING_TABLES: readonly string[] = ['gateways']
