import { losesNothing } from './fixture/loses-nothing.ts'

await losesNothing('codex-0.44')
