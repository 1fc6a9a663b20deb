import type { ChildProgram } from '@parley/executor'
import { messageOf } from '@parley/protocol'
import { CommandError, type Io } from '@parley/command-line'
import { type GatewayPlan, type Ready, isGatewayReady } from '../gateway-process/plan.ts'
import { type HostPlan, type HostReady, isHostReady } from '../host-process/plan.ts'
import { type JudgePlan, type JudgeReady, isJudgeReady } from '../judge-process/plan.ts'
import { keepRunning } from '../process/keep-running.ts'
import { programEnv } from '../process/program-env.ts'

const GATEWAY = new URL('../gateway-process/gateway-main.ts', import.meta.url)
const JUDGE = new URL('../judge-process/judge-main.ts', import.meta.url)
const HOST = new URL('../host-process/host-main.ts', import.meta.url)

/** A worker that is kept running beside the gateway. */
interface KeptWorker<Plan extends object, WorkerReady> {
  /** What it is told at each start, once the gateway is there. */
  readonly planFor: (ready: Ready) => Plan
  /** Variables for it beside what every program of ours gets. */
  readonly env: Readonly<Record<string, string>>
  readonly onReady: (ready: WorkerReady) => void
  /** There is none, or none any more, and why. Left out: it is said on `err`. */
  readonly onMissing?: (error: unknown) => void
}

export interface Supervised {
  readonly gateway: GatewayPlan
  readonly onReady: (ready: Ready) => void
  /** Left out: there is none. */
  readonly judge?: KeptWorker<JudgePlan, JudgeReady>
  readonly host?: KeptWorker<HostPlan, HostReady>
}

/**
 * Runs a gateway process, and a judge and a host beside it, until somebody asks for the end. The workers end first: what they give back, they
 * give to the gateway. A worker that cannot be had is said, and everything else goes on. Answers the exit code.
 */
export async function supervise(supervised: Supervised, io: Pick<Io, 'env' | 'now' | 'err' | 'onSignal'>): Promise<number> {
  const { gateway, judge, host, onReady } = supervised
  const asked = Promise.withResolvers<void>()
  const workersStop = Promise.withResolvers<'stop'>()
  const gatewayStop = Promise.withResolvers<'stop'>()
  const running = new Map<string, ChildProgram>()
  let times = 0
  const ignore = io.onSignal(() => {
    times += 1
    if (times === 1) io.err('stopping; once more forces it\n')
    else for (const program of running.values()) program.kill('SIGKILL')
    asked.resolve()
  })
  let working: Promise<unknown> = Promise.resolve()
  let plan = gateway

  const keep = <Plan extends object, WorkerReady>(
    { name, entry, isReady }: WorkerProgram<WorkerReady>,
    worker: KeptWorker<Plan, WorkerReady> | undefined,
    gatewayReady: Ready,
  ): Promise<void> | undefined =>
    worker === undefined
      ? undefined
      : keepRunning(
          {
            name,
            entry,
            env: { ...programEnv(name, io.env), ...worker.env },
            isReady,
            plan: () => worker.planFor(gatewayReady),
            onReady: (ready, isFirst) => {
              if (isFirst) worker.onReady(ready)
            },
            onStart: (program) => void running.set(name, program),
            stop: workersStop.promise,
          },
          io,
        ).catch(worker.onMissing ?? ((error: unknown) => io.err(without(name, error))))
  void asked.promise.then(async () => {
    workersStop.resolve('stop')
    await working
    gatewayStop.resolve('stop')
  })
  try {
    await keepRunning(
      {
        name: 'gateway',
        entry: GATEWAY,
        env: programEnv('gateway', io.env),
        isReady: isGatewayReady,
        plan: () => plan,
        onReady: (ready, isFirst) => {
          // Whoever connects again after a crash must find the gateway where it was.
          plan = { ...plan, settings: { ...plan.settings, port: Number(new URL(ready.url).port) || plan.settings.port } }
          if (!isFirst) return
          onReady(ready)
          working = Promise.all([
            keep({ name: 'judge', entry: JUDGE, isReady: isJudgeReady }, judge, ready),
            keep({ name: 'host', entry: HOST, isReady: isHostReady }, host, ready),
          ])
        },
        onStart: (program) => void running.set('gateway', program),
        stop: gatewayStop.promise,
      },
      io,
    )
    return 0
  } finally {
    workersStop.resolve('stop')
    await working
    ignore()
  }
}

interface WorkerProgram<WorkerReady> {
  readonly name: 'judge' | 'host'
  readonly entry: URL
  readonly isReady: (value: unknown) => value is WorkerReady
}

function without(name: string, error: unknown): string {
  const hint = error instanceof CommandError && error.hint !== undefined ? ` (${error.hint})` : ''
  return `there is no ${name}: ${messageOf(error)}${hint}; everything else runs on\n`
}
