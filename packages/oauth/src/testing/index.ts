export { type OauthTestOptions, type OauthTestServer, openOauthServer } from './oauth-server.ts'
