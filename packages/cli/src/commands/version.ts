import type { Invocation } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { ownVersion } from '../version.ts'

export async function version(invocation: Invocation): Promise<number> {
  const { platform, arch } = process
  const facts = { name: 'parley', version: ownVersion(), node: process.versions.node, platform, arch }
  return show(invocation, facts, `parley ${facts.version} (Node ${facts.node}, ${platform} ${arch})`)
}
