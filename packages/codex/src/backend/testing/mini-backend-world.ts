export { type MiniBackendWorld, openMiniBackendWorld, patch, say, shell } from '../fixture/mini-backend-world.ts'
