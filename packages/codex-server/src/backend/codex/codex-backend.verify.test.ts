import { codexBackend } from './fixture/codex-backend.ts'

codexBackend('codex-0.44')
codexBackend('codex-0.42')
