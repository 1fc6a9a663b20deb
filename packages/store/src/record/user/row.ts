import { UserId } from '@parley/protocol'
import { type Row, flag, integer, integerOrNull, text, textOrNull } from '@parley/database'
import type { ExternalIdentity, UserRecord } from './user.ts'

export function toUser(row: Row | undefined): UserRecord | undefined {
  return (
    row && {
      id: UserId.parse(text(row, 'id')),
      username: text(row, 'username'),
      passwordHash: textOrNull(row, 'password_hash'),
      admin: flag(row, 'admin'),
      disabled: flag(row, 'disabled'),
      createdAt: integer(row, 'created_at'),
      lastSignInAt: integerOrNull(row, 'last_sign_in_at'),
      identity: identityOf(row),
    }
  )
}

function identityOf(row: Row): ExternalIdentity | null {
  const issuer = textOrNull(row, 'identity_issuer')
  const subject = textOrNull(row, 'identity_subject')
  return issuer === null || subject === null ? null : { issuer, subject }
}
