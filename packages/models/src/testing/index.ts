export { KEY_FORMS, readable } from './key-forms.ts'
export {
  CHAT_EVENTS,
  CHAT_USAGE,
  ModelUpstream,
  RESPONSES_EVENTS,
  RESPONSES_USAGE,
  type UpstreamAnswer,
  event,
  json,
  stream,
  text,
} from './model-upstream.ts'
export { type TestUpstream, openTestUpstream, reply } from './test-upstream.ts'
