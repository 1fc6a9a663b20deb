import type { ChildProgram } from '@parley/executor'
import { messageOf } from '@parley/protocol'
import { CommandError, type Io } from '@parley/command-line'
import { type GatewayPlan, type Ready, isGatewayReady } from '../gateway-process/plan.ts'
import { type JudgePlan, type JudgeReady, isJudgeReady } from '../judge-process/plan.ts'
import { keepRunning } from '../process/keep-running.ts'
import { programEnv } from '../process/program-env.ts'

const GATEWAY = new URL('../gateway-process/gateway-main.ts', import.meta.url)
const JUDGE = new URL('../judge-process/judge-main.ts', import.meta.url)

export interface Supervised {
  readonly gateway: GatewayPlan
  /** What a judge is told once the gateway is there; `undefined`: no judge. */
  readonly judgeFor: ((ready: Ready) => JudgePlan) | undefined
  /** Variables for the judge beside what every program of ours gets. */
  readonly judgeEnv: Readonly<Record<string, string>>
  readonly onReady: (ready: Ready) => void
  readonly onJudge: (judge: JudgeReady) => void
  /** There is no judge, or none any more, and why. Left out: it is said on `err`. */
  readonly onJudgeMissing?: (error: unknown) => void
}

/**
 * Runs a gateway process and a judge process until somebody asks for the end. The judge ends first: what it gives back, it
 * gives to the gateway. A judge that cannot be had is said, and everything else goes on. Answers the exit code.
 */
export async function supervise(supervised: Supervised, io: Pick<Io, 'env' | 'now' | 'err' | 'onSignal'>): Promise<number> {
  const { gateway, judgeFor, judgeEnv, onReady, onJudge } = supervised
  const onJudgeMissing = supervised.onJudgeMissing ?? ((error) => io.err(withoutJudge(error)))
  const asked = Promise.withResolvers<void>()
  const judgeStop = Promise.withResolvers<'stop'>()
  const gatewayStop = Promise.withResolvers<'stop'>()
  const running = new Map<string, ChildProgram>()
  let times = 0
  const ignore = io.onSignal(() => {
    times += 1
    if (times === 1) io.err('stopping; once more forces it\n')
    else for (const program of running.values()) program.kill('SIGKILL')
    asked.resolve()
  })
  let judging: Promise<void> = Promise.resolve()
  let plan = gateway

  const startJudge = (judge: JudgePlan): void => {
    judging = keepRunning(
      {
        name: 'judge',
        entry: JUDGE,
        env: { ...programEnv('judge', io.env), ...judgeEnv },
        isReady: isJudgeReady,
        plan: () => judge,
        onReady: (ready, isFirst) => {
          if (isFirst) onJudge(ready)
        },
        onStart: (program) => void running.set('judge', program),
        stop: judgeStop.promise,
      },
      io,
    ).catch(onJudgeMissing)
  }
  void asked.promise.then(async () => {
    judgeStop.resolve('stop')
    await judging
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
          if (judgeFor !== undefined) startJudge(judgeFor(ready))
        },
        onStart: (program) => void running.set('gateway', program),
        stop: gatewayStop.promise,
      },
      io,
    )
    return 0
  } finally {
    judgeStop.resolve('stop')
    await judging
    ignore()
  }
}

function withoutJudge(error: unknown): string {
  const hint = error instanceof CommandError && error.hint !== undefined ? ` (${error.hint})` : ''
  return `there is no judge: ${messageOf(error)}${hint}; everything else runs on\n`
}
