export { type ToolDesk, openToolDesk } from './tool-desk.ts'
