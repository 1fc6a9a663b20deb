export { type AskOptions, type LineHandlers, LinePeer, type LinePeerOptions, type WireId } from './line-peer.ts'
export { PeerGone, RemoteFailure } from './wire-failure.ts'
