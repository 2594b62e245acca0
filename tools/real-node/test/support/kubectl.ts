/** kubectl and helm as a user runs them. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { findClientBinary } from '@reeve/client-binaries'
import { type EventuallyOptions, eventually, ProgramFailedError, runProgram } from '@reeve/real-node'

const kubeconfig = process.env.REEVE_KUBECONFIG ?? ''
const env = { ...process.env, KUBECONFIG: kubeconfig }

/** An object as kubectl prints it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary fields of objects that the API server has validated.
export type Json = any

/** Runs kubectl and returns what it prints. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  return runProgram(await client('kubectl'), args, { env })
}

/** Runs kubectl and returns the bytes that it prints. */
export async function kubectlBytes(...args: readonly string[]): Promise<Buffer> {
  return runProgram(await client('kubectl'), args, { env, encoding: 'buffer' })
}

/** Runs helm and returns what it prints. */
export async function helm(...args: readonly string[]): Promise<string> {
  return runProgram(await client('helm'), args, { env })
}

/** An object, or `undefined` when there is none. */
export async function get(kind: string, namespace: string, name: string): Promise<Json | undefined> {
  const printed = await kubectl('get', kind, name, '--namespace', namespace, '--ignore-not-found', '--output', 'json')
  return printed === '' ? undefined : JSON.parse(printed)
}

/** All objects of a kind in a namespace. */
export async function list(kind: string, namespace: string, ...more: readonly string[]): Promise<readonly Json[]> {
  return JSON.parse(await kubectl('get', kind, '--namespace', namespace, '--output', 'json', ...more)).items
}

/** Of the API server: the pod of a webhook is ready a moment before its Service leads to it. */
const UNREACHABLE_WEBHOOK = /failed calling webhook|conversion webhook for .* failed/

/** Creates or changes objects, as soon as the API server reaches the webhooks that admit them. */
export async function apply(...objects: readonly object[]): Promise<void> {
  const content = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const { code, stdout, stderr } = await eventually('the API server reaches all webhooks', async () => {
    const applied = await kubectlWith(content, 'apply')
    return UNREACHABLE_WEBHOOK.test(applied.stderr) ? undefined : applied
  })
  if (code !== 0) throw new ProgramFailedError('kubectl apply', `exited with ${code}`, stdout + stderr)
}

/** An object as webhooks would change it, which is not created. */
export async function admitted(object: object): Promise<Json> {
  const content = JSON.stringify(object)
  const { code, stdout, stderr } = await kubectlWith(content, 'create', '--dry-run=server', '--output', 'json')
  if (code !== 0) throw new ProgramFailedError('kubectl create', `exited with ${code}`, stderr)
  return JSON.parse(stdout)
}

async function kubectlWith(
  content: string,
  ...args: readonly string[]
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(await client('kubectl'), [...args, '--filename', '-'], { env })
  child.stdin.end(content)
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ])
  return { code, stdout, stderr }
}

/** Waits until all containers of a pod are ready, and returns it. *Errors*: the state of the pod and its events. */
export async function podReady(namespace: string, name: string, options?: EventuallyOptions): Promise<Json> {
  try {
    return await eventually(
      `pod ${namespace}/${name} is ready`,
      async () => {
        const pod = await get('pod', namespace, name)
        return isReady(pod) && pod
      },
      options,
    )
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${await described(namespace, name)}`)
  }
}

/** Whether a pod is ready. */
function isReady(pod: Json): boolean {
  const conditions: readonly { type: string; status: string }[] = pod?.status?.conditions ?? []
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** What kubectl describe shows of a pod. */
function described(namespace: string, name: string): Promise<string> {
  return kubectl('describe', 'pod', name, '--namespace', namespace)
}

/** Runs a command in a container and returns what it prints. */
export function exec(namespace: string, pod: string, ...command: readonly string[]): Promise<string> {
  return kubectl('exec', '--namespace', namespace, pod, '--', ...command)
}

/** What a Service responds to a pod, as soon as it leads to one that is ready. */
export async function responseOf(
  url: string,
  reader: { readonly namespace: string; readonly pod: string },
): Promise<string> {
  return eventually(`${url} responds`, () => exec(reader.namespace, reader.pod, 'wget', '-qO-', url))
}

async function client(name: 'kubectl' | 'helm'): Promise<string> {
  const path = await findClientBinary(name)
  if (path === undefined) throw new Error(`${name} was not found: run npm ci, or add it to your PATH`)
  return path
}
