import { codexBackend } from './testing/codex-backend.ts'

codexBackend('codex-0.166')
