// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `userInfo`, as Codex 0.44.0 takes or sends them. */
export type UserInfoParams = Readonly<Record<string, unknown>> | null

/** The result of it. */
export interface UserInfoResult {
  readonly allegedUserEmail: string | null
}

/** The same as the documents declare it. */
export type DeclaredUserInfoParams = Readonly<Record<string, never>>

/** The result of it. */
export interface DeclaredUserInfoResult {
  readonly allegedUserEmail: string
  readonly id?: string
  readonly email?: string
  readonly name?: string
}
