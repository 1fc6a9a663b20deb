export { openSdk1Http } from '../client/fixture/sdk1-server.ts'
export { spawnServer } from '../client/fixture/spawn-server.ts'
export { openTestServer } from '../fixture/open-server.ts'
export { everythingService } from '../fixture/service.ts'
