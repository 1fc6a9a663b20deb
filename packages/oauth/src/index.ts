export { discoverOauth, type OauthServer } from './discover.ts'
export type { OauthReach } from './oauth-fetch.ts'
export { OauthError, type OauthErrorCode } from './oauth-error.ts'
export { type OauthTokens, refreshTokens, signIn, type SignInOptions } from './sign-in.ts'
