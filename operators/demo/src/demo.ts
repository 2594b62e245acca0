/** The course of the demo. */
import { connect, type KubeClient } from '@reeve/kube'
import { createLogger, type Logger, type LogLevel, runUntilSignal, silentLogger } from '@reeve/runtime'
import type { WebApp } from '@reeve/webapp'
import { type ClusterChoice, type DemoCluster, openDemoCluster } from './demo-cluster.ts'
import { narrate } from './narrator.ts'
import { paint, type Screen, standardScreen } from './terminal.ts'
import { applySample, explain, installWebAppCrd, registerWebhooks, untilReady, webAppOperator } from './webapp-scene.ts'

/** The command line. */
export interface DemoFlags {
  readonly cluster: ClusterChoice
  readonly once: boolean
  readonly timeout: number
  readonly port: number
  readonly logLevel?: LogLevel
}

/** Ends the demo on purpose: everything is as it should be. */
class Done extends Error {}

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
  const end = new AbortController()
  const signal = AbortSignal.any([stopped, end.signal])
  const client = await connect({
    fieldManager: 'reeve-demo',
    ...(cluster.kubeconfigPath && { kubeconfig: cluster.kubeconfigPath }),
  })
  greet(screen, cluster)
  await installWebAppCrd(client, signal)
  const operator = webAppOperator(client, logger)
  const running = operator.manager.run(signal)
  const telling = narrate(client, screen, { signal })
  let failure: string | undefined
  try {
    const acts = act(flags, client, operator, screen, signal)
    await Promise.race([acts, running, telling])
  } catch (error) {
    if (!(error instanceof Done) && !stopped.aborted) failure = error instanceof Error ? error.message : String(error)
  } finally {
    end.abort(new Done())
    const ends = await Promise.allSettled([running, telling])
    for (const { status, ...rest } of ends) {
      if (status === 'rejected' && 'reason' in rest && !(rest.reason instanceof Done) && !stopped.aborted) {
        failure ??= String(rest.reason)
      }
    }
    await client.close()
  }
  return failure
}

async function act(
  flags: DemoFlags,
  client: KubeClient,
  operator: ReturnType<typeof webAppOperator>,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  await registerWebhooks(client, operator, signal)
  const deadline = flags.once ? AbortSignal.timeout(flags.timeout * 1_000) : new AbortController().signal
  const limited = AbortSignal.any([signal, deadline])
  let webapp: WebApp | undefined
  try {
    webapp = await applySample(client, limited)
    await untilReady(client, webapp, limited)
  } catch (error) {
    if (!deadline.aborted) throw error
    const state = webapp === undefined ? 'the sample could not be applied' : await explain(client, webapp)
    throw new Error(`not ready within ${flags.timeout} s: ${state}`, { cause: error })
  }
  screen.write(paint(screen, 'green', 'the samples are ready'))
  if (flags.once) throw new Done()
  screen.write(
    paint(screen, 'dim', 'try: kubectl scale webapp shop --replicas=5, or delete its Deployment; Ctrl-C ends the demo'),
  )
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

function greet(screen: Screen, cluster: DemoCluster): void {
  screen.write(`${paint(screen, 'bold', 'Reeve')} on ${cluster.description}`)
  if (cluster.kubeconfigPath !== undefined) {
    screen.write(`  export KUBECONFIG=${cluster.kubeconfigPath}`)
  }
  screen.write('  kubectl get webapps -A -w')
  screen.write('')
}
