import { PolicyDocument } from '@parley/protocol'
import { stringify } from 'smol-toml'
import { readPolicy } from '../document/read-policy.ts'
import { type MadeRule, placeOf, withRule } from './rule-from-call.ts'

/** Where a rule begins. */
const RULE = /^[ \t]*\[\[[ \t]*rule[ \t]*\]\]/gm

/**
 * The text of a policy with a made rule before the one that asked, as `withRule` has it. What people wrote stays as it is, comments and all;
 * where that cannot be done, it is written anew. Undefined where it cannot be written at all: TOML has no null.
 */
export function textWithRule(text: string, made: MadeRule, asked: string | null): string | undefined {
  const read = readPolicy(text)
  if (read.kind === 'problems') return undefined
  const wanted = sameForm(withRule(read.policy, made, asked))
  return [patched(text, read.policy, made, asked), () => stringify(PolicyDocument.parse(JSON.parse(wanted)))]
    .map((write) => tried(write))
    .find((made) => {
      const again = made === undefined ? undefined : readPolicy(made)
      return again?.kind === 'policy' && sameForm(again.policy) === wanted
    })
}

const patched = (text: string, policy: PolicyDocument, made: MadeRule, asked: string | null) => (): string => {
  const begins = [...text.matchAll(RULE)][placeOf(policy.rule, asked)]?.index ?? text.length
  const [rule, example] = [stringify({ rule: [made.rule] }), stringify({ example: [made.example] })]
  return `${closed(text.slice(0, begins))}${rule}\n${closed(text.slice(begins))}\n${example}`
}

function tried(write: () => string): string | undefined {
  try {
    return write()
  } catch {
    return undefined
  }
}

const closed = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** The members in the order of the schema, with what is left out filled in. */
const sameForm = (policy: PolicyDocument): string => JSON.stringify(PolicyDocument.parse(policy))
