import { type ToolArguments, ToolError, wrongArgument } from '@parley/protocol'
import type { ChannelRecord } from '@parley/store'
import { type Sealer, maskKey } from '../secret/seal.ts'
import type { ScriptFiles } from './script-files.ts'
import { channelFault } from './channel-fault.ts'
import { MODELS_PATH } from './seed-channels.ts'
import { tidyBaseUrl } from './upstream-url.ts'

type ChannelRow = Omit<ChannelRecord, 'createdAt' | 'updatedAt'>
type ChannelArguments = ToolArguments<'channel.set'>

/** A channel after `channel.set`: what is there with what is given put over it. Throws `ToolError` `invalid_argument`. */
export async function changedChannel(
  { sealer, scripts }: { readonly sealer: Sealer; readonly scripts: ScriptFiles },
  args: ChannelArguments,
  there: ChannelRecord | undefined,
): Promise<ChannelRow> {
  const kind = args.kind ?? there?.kind ?? (args.script === undefined ? 'openai' : 'script')
  if (there !== undefined && kind !== there.kind)
    throw wrongArgument('kind', `is ${there.kind} and stays so`, 'channel.delete first, or take another name')
  const draft = {
    kind,
    display_name: args.display_name ?? there?.displayName ?? args.name,
    base_url: args.base_url ?? there?.baseUrl ?? null,
    models_path: args.models_path ?? there?.modelsPath ?? MODELS_PATH,
    script: args.script ?? there?.script ?? null,
    api_key: args.api_key,
  }
  const found = channelFault(draft)
  if (found !== undefined) throw wrongArgument(found.field, found.fault)
  checkKeyStays(args, there)
  return {
    name: args.name,
    displayName: draft.display_name,
    kind,
    baseUrl: draft.base_url === null ? null : tidyBaseUrl(draft.base_url),
    wire: draft.script === null ? (args.wire ?? there?.wire ?? 'responses') : await scriptWire(scripts, draft.script, args.wire),
    modelsPath: draft.models_path,
    script: draft.script,
    ...keyOf(),
    enabled: args.enabled ?? there?.enabled ?? true,
    source: 'admin',
  }

  function keyOf(): Pick<ChannelRow, 'sealedKey' | 'keyHint'> {
    const key = args.api_key
    if (key === undefined) return { sealedKey: there?.sealedKey ?? null, keyHint: there?.keyHint ?? null }
    return key === '' ? { sealedKey: null, keyHint: null } : { sealedKey: sealer.seal(args.name, key), keyHint: maskKey(key) }
  }
}

/** A key was given for one address. Whoever changes the address says anew what it may be shown. */
function checkKeyStays(args: ChannelArguments, there: ChannelRecord | undefined): void {
  if (args.base_url === undefined || args.api_key !== undefined || (there?.sealedKey ?? null) === null) return
  if (there?.baseUrl !== tidyBaseUrl(args.base_url))
    throw wrongArgument(
      'base_url',
      'changes where the key would be sent',
      'give api_key too: the key for the new address, or an empty one for none',
    )
}

async function scriptWire(scripts: ScriptFiles, name: string, wanted: ChannelArguments['wire']): Promise<ChannelRecord['wire']> {
  const read = await scripts.read(name)
  if (read.kind === 'broken') throw new ToolError('invalid_argument', read.error, { field: 'script', hint: await scripts.hint() })
  const { wire } = read.script
  if (wanted !== undefined && wanted !== wire) throw wrongArgument('wire', `is ${wire} in the script ${name}`, 'leave it out')
  return wire
}
