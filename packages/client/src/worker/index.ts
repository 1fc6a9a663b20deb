export { type AskedTunnel, type Heartbeat, type WorkerPort } from './control-link.ts'
export { type ControlConnect, type Joined, joinGateways, type JoinOptions } from './join-gateways.ts'
