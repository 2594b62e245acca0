/** The real kubectl, as a user runs it. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { findClientBinary } from '@reeve/client-binaries'
import type { KubeObject } from '@reeve/kube'
import type { WebhookStage } from './webhook-stage.ts'

/** What a run of kubectl gives. */
export interface KubectlResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Absent without kubectl. */
export const kubectlPath = await findClientBinary('kubectl')

/** Runs kubectl in the operator's namespace; `object`, if any, goes to its standard input. */
export async function kubectl(
  { cluster, namespace }: WebhookStage,
  args: readonly string[],
  object?: KubeObject,
): Promise<KubectlResult> {
  const flags = ['--kubeconfig', cluster.kubeconfigPath, '-n', namespace]
  const child = spawn(kubectlPath ?? '', [...flags, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(object === undefined ? '' : JSON.stringify(object))
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (exitCode) => resolve(exitCode ?? 1))
    }),
  ])
  return { code, stdout, stderr }
}
