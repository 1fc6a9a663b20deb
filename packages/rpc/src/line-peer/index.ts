export { type AskOptions, type PeerHandlers as LineHandlers, type WireId } from '../frame/frame-peer.ts'
export { PeerGone, RemoteFailure } from '../frame/wire-failure.ts'
export { LinePeer, type LinePeerOptions } from './line-peer.ts'
