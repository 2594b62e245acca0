/** The course of the demo: scene after scene on one cluster, each operator running until the end. */
import { EXIT } from '@reeve/cli'
import { ConsoleModel, ConsoleServer, loadPage } from '@reeve/console'
import { DYNATRACE_TOKENS } from '@reeve/dynatrace'
import { connect, isNotFound } from '@reeve/kube'
import { createLogger, type Logger, silentLogger } from '@reeve/runtime'
import type { LogLevel } from '@reeve/runtime/logging'
import { runUntilSignal } from '@reeve/runtime/manager'
import { FIELD_MANAGER } from './apply-crd.ts'
import { Backstage } from './backstage.ts'
import { type ClusterChoice, type DemoCluster, openDemoCluster } from './demo-cluster.ts'
import { COMMON_KINDS } from './narrated-kinds.ts'
import { type NarratedKind, narrate } from './narrator.ts'
import type { OpenScene, SceneStage } from './scene.ts'
import { SCENES } from './scenes.ts'
import { paint, type Screen, standardScreen } from './terminal.ts'
import { TimeLimit } from './time-limit.ts'

/** The command line. */
export interface DemoFlags {
  readonly cluster: ClusterChoice
  readonly once: boolean
  readonly timeout: number
  readonly port: number
  readonly consolePort: number
  readonly logLevel?: LogLevel
}

/** Runs the demo; returns the exit code of the process. */
export async function demo(flags: DemoFlags): Promise<number> {
  const screen = standardScreen(process.stdout, process.env)
  const logger =
    flags.logLevel === undefined ? silentLogger : await createLogger({ level: flags.logLevel, pretty: true })
  let failure: string | undefined
  const code = await runUntilSignal(async (signal) => {
    const stopped = AbortSignal.any([signal, endOf(process.stdout)])
    try {
      await using cluster = await openDemoCluster(flags.cluster, { port: flags.port })
      failure = await play(flags, cluster, screen, logger, stopped)
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
    }
  })
  if (failure !== undefined) {
    console.error(paint(screen, 'red', failure))
    return EXIT.failed
  }
  if (code === EXIT.done) screen.write(paint(screen, 'dim', 'stopped'))
  return code
}

/** Aborts when the output is closed, as by `| head`. */
function endOf(stream: NodeJS.WriteStream): AbortSignal {
  const end = new AbortController()
  stream.on('error', () => end.abort(new DOMException('the output was closed', 'AbortError')))
  return end.signal
}

/** Returns the failure, if any. */
async function play(
  flags: DemoFlags,
  cluster: DemoCluster,
  screen: Screen,
  logger: Logger,
  stopped: AbortSignal,
): Promise<string | undefined> {
  const { kubeconfigPath, hasSimulatedNodes } = cluster
  const model = new ConsoleModel({ secretPatterns: DYNATRACE_TOKENS })
  const client = await connect({
    fieldManager: FIELD_MANAGER,
    ...(kubeconfigPath && { kubeconfig: kubeconfigPath }),
    onRequest: model.requests.count,
  })
  const backstage = new Backstage(stopped)
  const opened = new AsyncDisposableStack()
  try {
    greet(screen, cluster)
    screen.write(`  console: ${await openConsole(flags, model, logger, backstage)}`)
    const stage = { client, logger, kubeconfigPath, hasSimulatedNodes, console: model }
    const hints = await show(flags, stage, screen, backstage, opened)
    if (!flags.once) await linger(screen, hints, backstage.signal)
  } catch (error) {
    backstage.fail(error)
  }
  await backstage.close()
  await opened.disposeAsync()
  await client.close()
  return backstage.failure?.message
}

/** Starts the console of all operators; returns what to open in a browser. */
async function openConsole(
  { consolePort: port }: DemoFlags,
  model: ConsoleModel,
  logger: Logger,
  backstage: Backstage,
): Promise<string> {
  const server = new ConsoleServer({ model, page: await loadPage(), port, logger })
  backstage.start((signal) => server.run(signal))
  return server.link()
}

/** Plays all scenes that this machine can play; returns what to try next. Operators of earlier scenes keep running. */
async function show(
  flags: DemoFlags,
  stage: SceneStage,
  screen: Screen,
  backstage: Backstage,
  opened: AsyncDisposableStack,
): Promise<readonly string[]> {
  const start = performance.now()
  const follow = (kinds: readonly NarratedKind[]) =>
    backstage.start((signal) => narrate(stage.client, screen, kinds, () => performance.now() - start, signal))
  const limit = new TimeLimit(flags.once ? flags.timeout : undefined)
  const hints: string[] = []
  follow(COMMON_KINDS)
  for (const scene of SCENES) {
    screen.write('')
    screen.write(paint(screen, 'bold', scene.title))
    const obstacle = await scene.obstacle?.(stage)
    if (obstacle !== undefined) {
      screen.write(paint(screen, 'yellow', `left out: ${obstacle}`))
      continue
    }
    const install = (signal: AbortSignal) => scene.open(stage, signal)
    const open = await limit.run(backstage.signal, install, async () => 'the operator could not be installed')
    opened.use(open)
    follow(scene.kinds)
    backstage.start((signal) => open.run(signal))
    await limit.run(
      backstage.signal,
      (signal) => open.play(signal),
      () => stateOf(open),
    )
    hints.push(scene.hint, ...(open.hints ?? []))
  }
  screen.write('')
  screen.write(paint(screen, 'green', 'the samples are ready'))
  return hints
}

async function stateOf(scene: OpenScene): Promise<string> {
  try {
    return await scene.explain()
  } catch (error) {
    if (isNotFound(error)) return 'the sample could not be applied'
    throw error
  }
}

/** Until the user stops the demo. */
async function linger(screen: Screen, hints: readonly string[], signal: AbortSignal): Promise<void> {
  for (const hint of hints) screen.write(paint(screen, 'dim', `try: ${hint}`))
  screen.write(paint(screen, 'dim', 'Ctrl-C ends the demo'))
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

function greet(screen: Screen, cluster: DemoCluster): void {
  screen.write(`${paint(screen, 'bold', 'Reeve')} on ${cluster.description}`)
  if (cluster.kubeconfigPath !== undefined) {
    screen.write(`  export KUBECONFIG=${cluster.kubeconfigPath}`)
  }
  screen.write(`  kubectl get ${SCENES.map(({ kubectlNames }) => kubectlNames).join(',')} -A -w`)
}
