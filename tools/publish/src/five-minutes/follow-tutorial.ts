/** Follows the tutorial in an empty folder, command by command as it is printed, and measures the time. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { printed, type RunOptions, run, start, stop } from '../run.ts'
import { commandOf, type Tutorial } from './tutorial.ts'

/** One thing that a reader does, and how long it took. */
export interface TimedStep {
  readonly step: string
  readonly seconds: number
}

/** Where and with what the tutorial is followed. */
export interface FollowOptions {
  /** An empty folder outside the repository. */
  readonly folder: string
  /** A registry that has the packages. */
  readonly registry: string
  /** Called after each step. */
  readonly onStep?: (step: TimedStep) => void
}

/**
 * With `npm create`: a project whose tests pass. By hand: the operator of the page, tested on a simulated clock, planned, and
 * run on an embedded cluster until it has made a ConfigMap of a Greeting.
 *
 * *Errors*: when a command fails or prints something else than the page says.
 */
export async function followTutorial(tutorial: Tutorial, options: FollowOptions): Promise<readonly TimedStep[]> {
  const { folder, registry, onStep } = options
  const steps: TimedStep[] = []
  // With the reader's Node, which is the one that runs this; npm asks whether to fetch what it creates with.
  const env = { npm_config_registry: registry, npm_config_cache: join(folder, 'npm-cache'), npm_config_yes: 'true' }
  const inside = (cwd: string): RunOptions => ({ cwd, path: dirname(process.execPath), env })
  const timed = async <R>(step: string, act: () => Promise<R>): Promise<R> => {
    const startedMs = performance.now()
    const result = await act()
    const done = { step, seconds: (performance.now() - startedMs) / 1_000 }
    steps.push(done)
    onStep?.(done)
    return result
  }
  const shell = (cwd: string, command: string, code = 0) =>
    timed(command, async () => {
      const outcome = await run('sh', ['-c', command], inside(cwd))
      if (outcome.code === code) return outcome.stdout
      throw new Error(`${command} ended with ${outcome.code}:\n${outcome.stdout}\n${outcome.stderr}`)
    })

  const created = join(folder, 'created')
  await mkdir(created)
  await shell(created, commandOf(tutorial, 'npm create'))
  const project = join(created, 'greeting-operator')
  await shell(project, 'npm install')
  await shell(project, 'npm test')

  const byHand = join(folder, 'by-hand')
  await mkdir(byHand)
  await shell(byHand, commandOf(tutorial, 'npm init'))
  for (const command of tutorial.commands.filter((one) => one.startsWith('npm install'))) await shell(byHand, command)
  for (const [name, text] of tutorial.files) await writeFile(join(byHand, name), text)
  const tested = await shell(byHand, commandOf(tutorial, 'node try.ts'))
  if (tested !== 'all good\n') throw new Error(`the test of the page printed ${tested}`)
  const plan = await shell(byHand, commandOf(tutorial, 'node cli.ts plan'), 2)
  if (!plan.includes('Plan: 3 to create')) throw new Error(`the plan of the page is ${plan}`)
  await timed('the operator makes a ConfigMap of hello.yaml on a cluster', () => runOperator(tutorial, byHand, inside))
  return steps
}

async function runOperator(tutorial: Tutorial, cwd: string, inside: (cwd: string) => RunOptions): Promise<void> {
  // The page has its kubeconfig in /tmp; two that follow it at the same time must not meet there.
  const kubeconfig = join(cwd, 'kubeconfig')
  const command = (beginning: string) => commandOf(tutorial, beginning).replaceAll('/tmp/kubeconfig', kubeconfig)
  await writeFile(join(cwd, 'apply.mjs'), APPLY)
  const cluster = start('sh', ['-c', command('npx reeve cluster')], inside(cwd))
  try {
    await printed(cluster, 'cluster is ready')
    const operator = start('sh', ['-c', command('KUBECONFIG=')], inside(cwd))
    try {
      const { code, stdout, stderr } = await run('node', ['apply.mjs', kubeconfig], inside(cwd))
      if (code !== 0 || stdout !== 'GOOD MORNING\n') throw new Error(`the operator did not answer: ${stdout}${stderr}`)
    } finally {
      await stop(operator)
    }
  } finally {
    await stop(cluster)
  }
}

/** `kubectl apply -f hello.yaml` and `kubectl get configmaps`, for a machine without kubectl. */
const APPLY = `
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { ConfigMaps, connect, isApiError } from '@reeve/kube'
import { parse } from 'yaml'

const client = await connect({ kubeconfig: process.argv[2] })
const signal = AbortSignal.timeout(300_000)
const greeting = parse(await readFile('hello.yaml', 'utf8'))
// Until the operator has installed its CRD, and has reconciled.
const eventually = async (act) => {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!isApiError(error) && error.code !== 'KUBE_UNKNOWN_KIND') throw error
      await setTimeout(100, undefined, { signal })
    }
  }
}
await eventually(async () => client.apply(await client.resourceFor(greeting), greeting))
console.log((await eventually(() => client.get(ConfigMaps, { namespace: 'default', name: 'hello' }))).data.text)
await client.close()
`
