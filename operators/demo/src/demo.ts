/** The course of the demo: scene after scene on one cluster, each operator at work until the end. */
import { connect, isNotFound } from '@reeve/kube'
import { createLogger, type Logger, type LogLevel, runUntilSignal, silentLogger } from '@reeve/runtime'
import { FIELD_MANAGER } from './apply-crd.ts'
import { Backstage } from './backstage.ts'
import { type ClusterChoice, type DemoCluster, openDemoCluster } from './demo-cluster.ts'
import { narrate, type Told } from './narrator.ts'
import type { OpenScene, Scene, SceneStage } from './scene.ts'
import { SCENES } from './scenes.ts'
import { paint, type Screen, standardScreen } from './terminal.ts'
import { COMMON_KINDS } from './told-kinds.ts'

/** The command line. */
export interface DemoFlags {
  readonly cluster: ClusterChoice
  readonly once: boolean
  readonly timeout: number
  readonly port: number
  readonly logLevel?: LogLevel
}

/** Runs the demo; answers with the exit code of the process. */
export async function demo(flags: DemoFlags): Promise<number> {
  const screen = standardScreen(process.stdout, process.env)
  const logger =
    flags.logLevel === undefined ? silentLogger : await createLogger({ level: flags.logLevel, pretty: true })
  let failure: string | undefined
  const code = await runUntilSignal(async (signal) => {
    await using cluster = await openDemoCluster(flags.cluster, { port: flags.port })
    failure = await play(flags, cluster, screen, logger, signal)
  })
  if (code !== 0 || failure !== undefined) {
    if (failure !== undefined) console.error(paint(screen, 'red', failure))
    return code === 0 ? 1 : code
  }
  screen.write(paint(screen, 'dim', 'stopped'))
  return 0
}

/** Answers with what went wrong, or nothing. */
async function play(
  flags: DemoFlags,
  cluster: DemoCluster,
  screen: Screen,
  logger: Logger,
  stopped: AbortSignal,
): Promise<string | undefined> {
  const { kubeconfigPath } = cluster
  const client = await connect({ fieldManager: FIELD_MANAGER, ...(kubeconfigPath && { kubeconfig: kubeconfigPath }) })
  const backstage = new Backstage(stopped)
  const opened = new AsyncDisposableStack()
  try {
    greet(screen, cluster)
    const shown = await show(flags, { client, logger, kubeconfigPath }, screen, backstage, opened)
    if (!flags.once) await linger(screen, shown, backstage.signal)
  } catch (error) {
    backstage.fail(error)
  }
  await backstage.close()
  await opened.disposeAsync()
  await client.close()
  return backstage.failure?.message
}

/** Plays all scenes that this machine can play; answers with these. Operators of earlier scenes go on working. */
async function show(
  flags: DemoFlags,
  stage: SceneStage,
  screen: Screen,
  backstage: Backstage,
  opened: AsyncDisposableStack,
): Promise<readonly Scene[]> {
  const start = performance.now()
  const tell = (kinds: readonly Told[]) =>
    backstage.start((signal) => narrate(stage.client, screen, kinds, () => performance.now() - start, signal))
  const deadline = flags.once ? AbortSignal.timeout(flags.timeout * 1_000) : new AbortController().signal
  const shown: Scene[] = []
  tell(COMMON_KINDS)
  for (const scene of SCENES) {
    screen.write(paint(screen, 'bold', scene.title))
    const obstacle = await scene.obstacle?.()
    if (obstacle !== undefined) {
      screen.write(paint(screen, 'yellow', `left out: ${obstacle}`))
      continue
    }
    const open = opened.use(await scene.open(stage, backstage.signal))
    tell(scene.told)
    backstage.start((signal) => open.run(signal))
    await playUntil(deadline, open, flags.timeout, backstage.signal)
    shown.push(scene)
  }
  screen.write(paint(screen, 'green', 'the samples are ready'))
  return shown
}

async function playUntil(deadline: AbortSignal, scene: OpenScene, seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await scene.play(AbortSignal.any([signal, deadline]))
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error
    throw new Error(`not ready within ${seconds} s: ${await stateOf(scene)}`, { cause: error })
  }
}

async function stateOf(scene: OpenScene): Promise<string> {
  try {
    return await scene.explain()
  } catch (error) {
    if (isNotFound(error)) return 'the sample could not be applied'
    throw error
  }
}

/** Until somebody ends the demo. */
async function linger(screen: Screen, shown: readonly Scene[], signal: AbortSignal): Promise<void> {
  for (const { hint } of shown) screen.write(paint(screen, 'dim', `try: ${hint}`))
  screen.write(paint(screen, 'dim', 'Ctrl-C ends the demo'))
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

function greet(screen: Screen, cluster: DemoCluster): void {
  screen.write(`${paint(screen, 'bold', 'Reeve')} on ${cluster.description}`)
  if (cluster.kubeconfigPath !== undefined) {
    screen.write(`  export KUBECONFIG=${cluster.kubeconfigPath}`)
  }
  screen.write(`  kubectl get ${SCENES.map(({ kubectlNames }) => kubectlNames).join(',')} -A -w`)
  screen.write('')
}
