import { codexBackend } from './fixture/codex-backend.ts'

codexBackend('codex-0.166')
