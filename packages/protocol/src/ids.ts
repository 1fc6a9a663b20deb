import * as z from 'zod'

/** Every id says what it names: `usr_…`, `tok_…`. Twenty-six characters of base 32 after the prefix. */
const idOf = <const Prefix extends string>(prefix: Prefix) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-z]{26}$`), `must look like ${prefix}_ and 26 letters or digits`)
    .brand(prefix)

export const UserId = idOf('usr')
export type UserId = z.infer<typeof UserId>
export const TokenId = idOf('tok')
export type TokenId = z.infer<typeof TokenId>
export const AgentId = idOf('agt')
export type AgentId = z.infer<typeof AgentId>
export const PromptId = idOf('prm')
export type PromptId = z.infer<typeof PromptId>
/** Of a call that goes on in the background. */
export const CallId = idOf('cal')
export type CallId = z.infer<typeof CallId>
export const ApprovalId = idOf('apr')
export type ApprovalId = z.infer<typeof ApprovalId>
export const AllowanceId = idOf('alw')
export type AllowanceId = z.infer<typeof AllowanceId>
export const UploadId = idOf('upl')
export type UploadId = z.infer<typeof UploadId>

export const UsageId = idOf('usg')
export type UsageId = z.infer<typeof UsageId>
export const ConversationId = idOf('cnv')
export type ConversationId = z.infer<typeof ConversationId>
export const JobId = idOf('job')
export type JobId = z.infer<typeof JobId>

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_BYTES = 26

/** Where chance comes from: handed in, so that a test knows what will come. */
export type RandomBytes = (size: number) => Uint8Array

/** Makes an id from 26 random bytes; five bits of each are used, 130 in all. */
export function makeId<Schema extends z.ZodType<string>>(schema: Schema, prefix: string, random: RandomBytes): z.output<Schema> {
  let text = `${prefix}_`
  for (const byte of random(ID_BYTES)) text += ALPHABET.charAt(byte & 31)
  return schema.parse(text)
}
